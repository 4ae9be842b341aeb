namespace Voron.Salvaging;

/// <summary>Receives the findings of a tree walk, in key order.</summary>
internal unsafe interface ITreeWalkHost
{
    /// <summary>Receives a leaf, whose memory is valid until the call returns.</summary>
    void TakeLeaf(byte* leaf);

    /// <summary>Receives a range of keys of which nothing was found.</summary>
    /// <param name="range">The range.</param>
    void Lose(LostKeys range);
}
