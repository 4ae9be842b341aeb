
namespace Voron.Trees.KeyHeads;

/// <summary>The place of a child's number in an entry.</summary>
internal readonly unsafe struct ChildPlace(KeyHeadsEntry* entry, uint sequence, long* child)
{
    public readonly KeyHeadsEntry* Entry = entry;
    public readonly uint Sequence = sequence;
    public readonly long* Child = child;
}
