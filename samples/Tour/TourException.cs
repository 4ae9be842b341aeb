namespace Tour;

/// <summary>The tour cannot continue, and its message says why and what to do.</summary>
internal sealed class TourException(string message, Exception? cause = null) : Exception(message, cause);
