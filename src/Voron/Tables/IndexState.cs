namespace Voron.Tables;

/// <summary>Whether an index can answer queries.</summary>
public enum IndexState
{
    /// <summary>The environment does not have the index: the definition is newer. <c>EvolveAsync</c> builds it.</summary>
    Absent = 0,

    /// <summary>The index has the keys of all rows.</summary>
    Ready = 1,

    /// <summary>The index does not have the keys of all rows yet. <c>EvolveAsync</c> continues with it.</summary>
    Building = 2,

    /// <summary>Two rows have the same key of a unique index, so it cannot be built.</summary>
    Failed = 3,
}
