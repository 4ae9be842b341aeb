namespace Voron.Tables;

/// <summary>Whether an index can answer queries.</summary>
public enum IndexState
{
    /// <summary>The index does not exist in the environment, because the definition is newer. <c>EvolveAsync</c> builds it.</summary>
    Absent = 0,

    /// <summary>The index contains the keys of all rows.</summary>
    Ready = 1,

    /// <summary>The index does not contain the keys of all rows yet. <c>EvolveAsync</c> continues with it.</summary>
    Building = 2,

    /// <summary>Two rows have the same key in a unique index, so it cannot be built.</summary>
    Failed = 3,
}
