namespace Voron.Trees.IdSets.Pages;

/// <summary>A change to a set. Changes applied together are in ascending order of their ids, each id at most once.</summary>
/// <param name="Id">The id.</param>
/// <param name="Payload">The payload of the id to add; <see cref="Removal"/> to remove the id.</param>
internal readonly record struct IdChange(long Id, short Payload)
{
    public const short Removal = -1;

    public bool IsRemoval => Payload < 0;

    /// <summary>Returns whether changes can be applied together. For assertions.</summary>
    public static bool AreInOrder(ReadOnlySpan<IdChange> changes)
    {
        for (var i = 0; i < changes.Length; i++)
        {
            if (changes[i].Id < 0 || changes[i].Payload > byte.MaxValue || (i > 0 && changes[i].Id <= changes[i - 1].Id))
                return false;
        }

        return true;
    }
}
