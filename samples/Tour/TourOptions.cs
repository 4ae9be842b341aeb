namespace Tour;

/// <summary>What the command line says.</summary>
/// <param name="Directory">Where the stores are made, and kept; null for a temporary directory.</param>
/// <param name="Time">How long each engine runs in each measurement.</param>
/// <param name="Seed">Chooses the order of reads and the moments of kills.</param>
internal sealed record TourOptions(string? Directory, TimeSpan Time, int Seed);
