namespace Voron.Trees.Batches;

/// <summary>What a waiting put does to the value of its key.</summary>
internal enum WaitingOperation
{
    /// <summary>The value becomes the one that waits.</summary>
    Put = 0,

    /// <summary>The operand, a <see cref="long"/>, is added to a counter.</summary>
    Increment = 1,

    /// <summary>An id, with its payload, is added to the set of the key.</summary>
    AddId = 2,

    /// <summary>An id is removed from the set of the key.</summary>
    RemoveId = 3,
}
