namespace Voron.Documents.Tool;

/// <summary>A source of documents cannot be read, or has something that is no document.</summary>
internal sealed class ImportException(string message, Exception? cause = null) : Exception(message, cause);
