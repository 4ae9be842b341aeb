namespace Voron.Dictionaries;

/// <summary>What came of a training.</summary>
/// <param name="IsInstalled">True if the tree has got a dictionary.</param>
internal sealed record TrainingOutcome(bool IsInstalled);
