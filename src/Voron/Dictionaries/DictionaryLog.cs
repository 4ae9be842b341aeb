using Microsoft.Extensions.Logging;

namespace Voron.Dictionaries;

/// <summary>The log messages of dictionaries. A separate class, so that messages are prepared when the first one is logged.</summary>
internal static partial class DictionaryLog
{
    [LoggerMessage(
        EventId = 1200, EventName = "DictionaryInstalled", Level = LogLevel.Information,
        Message = "Dictionary {Number} for the values of the tree with id {TreeId} of the environment in '{Path}' has {Bytes} bytes, and leaves about {Percent} % of them. " +
            "Training took {Milliseconds} ms.")]
    public static partial void Installed(ILogger logger, int number, uint treeId, string path, int bytes, int percent, long milliseconds);

    [LoggerMessage(
        EventId = 1201, EventName = "DictionaryTrainingFailed", Level = LogLevel.Warning,
        Message = "No dictionary could be trained for the tree with id {TreeId} of the environment in '{Path}'. Its values are compressed as before. Reason: {Reason}")]
    public static partial void TrainingFailed(ILogger logger, uint treeId, string path, string reason, Exception exception);

    [LoggerMessage(
        EventId = 1202, EventName = "TreeRecompressed", Level = LogLevel.Information,
        Message = "The values of the tree with id {TreeId} of the environment in '{Path}' were recompressed: {Values} of {Entries} were " +
            "rewritten, and {Dictionaries} dictionaries were dropped, in {Milliseconds} ms.")]
    public static partial void Recompressed(
        ILogger logger, uint treeId, string path, long values, long entries, long dictionaries, long milliseconds);
}
