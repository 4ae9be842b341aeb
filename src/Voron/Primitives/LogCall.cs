using Microsoft.Extensions.Logging;

namespace Voron.Primitives;

/// <summary>A log entry that waits to be written.</summary>
/// <param name="Category">The index of its category in <see cref="LogCategories.Names"/>.</param>
/// <param name="Write">Writes it to the user's logger of that category.</param>
internal readonly record struct LogCall(int Category, Action<ILogger> Write);
