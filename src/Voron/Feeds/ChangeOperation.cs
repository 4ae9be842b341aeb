namespace Voron.Feeds;

/// <summary>The kind of a change in a feed.</summary>
public enum ChangeOperation
{
    /// <summary>No change: the value of a default <see cref="Change"/>.</summary>
    None = 0,

    /// <summary>The value of a key in a tree was set, whether or not the tree contained the key.</summary>
    Put = 1,

    /// <summary>A row was inserted.</summary>
    Insert = 2,

    /// <summary>A row was replaced.</summary>
    Update = 3,

    /// <summary>An entry of a tree, or a row, was removed.</summary>
    Delete = 4,

    /// <summary>All entries of a tree in a range of keys were removed: see <see cref="Change.Range"/>.</summary>
    DeleteRange = 5,

    /// <summary>The tree or the table was deleted with its whole content. No more changes of this source follow.</summary>
    SourceDeleted = 6,

    /// <summary>
    /// The tree was renamed: see <see cref="Change.NewName"/>. No more changes of this source follow; changes of the source with the new name do.
    /// </summary>
    SourceRenamed = 7,

    /// <summary>The feed records the changes of the tree or table from here on. Its existing content is not in the feed.</summary>
    SourceAdded = 8,

    /// <summary>The feed records no more changes of the tree or table.</summary>
    SourceRemoved = 9,
}
