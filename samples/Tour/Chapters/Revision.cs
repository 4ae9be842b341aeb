using System.Text;
using Tour.Data;

namespace Tour.Chapters;

/// <summary>Replaces texts by revised ones, entry after entry in random order, and keeps account of the content that a store must have.</summary>
internal sealed class Revision(DataSet data)
{
    private readonly Dictionary<Member, Member> _revised = new(ReferenceEqualityComparer.Instance);

    /// <summary>The content after all changes.</summary>
    public Digest Content { get; private set; } = data.Content;

    public long Changes { get; private set; }

    /// <summary>Makes the next changes.</summary>
    public List<Member> Next(int count)
    {
        var changes = new List<Member>(count);
        for (; changes.Count < count; Changes++)
        {
            var member = data.Shuffled(Changes);
            var number = $"Revision {Changes / data.Count + 1}. ";
            var revised = member with { Text = [.. Encoding.UTF8.GetBytes(number), .. member.Text] };
            Content = Content - Digest.Of(_revised.GetValueOrDefault(member, member)) + Digest.Of(revised);
            _revised[member] = revised;
            changes.Add(revised);
        }

        return changes;
    }
}
