namespace Voron.Dictionaries;

/// <summary>The outcome of a training.</summary>
/// <param name="IsInstalled">True if the tree received a new dictionary.</param>
internal sealed record TrainingOutcome(bool IsInstalled);
