namespace Voron.Salvaging;

/// <summary>Receives what a walk through a tree finds, in the order of the keys.</summary>
internal unsafe interface ITreeWalkHost
{
    /// <summary>Receives a leaf, whose memory stays until the call returns.</summary>
    void TakeLeaf(byte* leaf);

    /// <summary>Receives a range of keys of which nothing was found.</summary>
    /// <param name="range">The range.</param>
    void Lose(LostKeys range);
}
