using System.Text.Json;

namespace Voron.Documents.Scanning;

/// <summary>Finds the values of many paths in one pass over a document.</summary>
internal sealed class DocumentScanner
{
    private const int MaxNamesOnStack = 64;

    private readonly Step _root = new();

    /// <param name="indexes">The paths of indexes.</param>
    /// <param name="texts">The paths of text fields.</param>
    public DocumentScanner(IReadOnlyList<JsonPath> indexes, IReadOnlyList<JsonPath> texts)
    {
        _root.Find("id"u8).IsId = true;
        for (var i = 0; i < indexes.Count; i++)
            EndOf(indexes[i]).Indexes.Add(i);
        foreach (var path in texts)
            EndOf(path).IsText = true;
        _root.Seal();
    }

    /// <summary>Reads a document to its end, and passes on the values of the paths, in the order of the document.</summary>
    /// <exception cref="DocumentFormatException">The text is no JSON object.</exception>
    public void Scan<TSink>(ReadOnlySpan<byte> json, ref TSink sink)
        where TSink : IScanSink, allows ref struct
    {
        try
        {
            var reader = new Utf8JsonReader(json);
            if (!reader.Read() || reader.TokenType != JsonTokenType.StartObject)
                throw new DocumentFormatException("The text is no JSON object: it must begin with a brace.");
            Visit(ref reader, _root, ref sink);
            reader.Read();
        }
        catch (JsonException e)
        {
            throw new DocumentFormatException($"The text is no JSON at byte {PositionOf(json, e)}: {ReasonOf(e)}", e);
        }
    }

    // Of the whole text: a line of it may be one of a file.
    private static long PositionOf(ReadOnlySpan<byte> json, JsonException e)
    {
        var start = 0;
        for (var line = 0L; line < e.LineNumber; line++)
            start += json[start..].IndexOf((byte)'\n') + 1;
        return start + e.BytePositionInLine.GetValueOrDefault() + 1;
    }

    // Without the position, which the message ends with.
    private static string ReasonOf(JsonException e) =>
        e.Message.IndexOf(" LineNumber: ", StringComparison.Ordinal) is var end and >= 0 ? e.Message[..end] : e.Message;

    private static void Visit<TSink>(ref Utf8JsonReader reader, Step step, ref TSink sink)
        where TSink : IScanSink, allows ref struct
    {
        switch (reader.TokenType)
        {
            case JsonTokenType.StartObject when step.Names.Length > 0:
                VisitObject(ref reader, step, ref sink);
                break;
            case JsonTokenType.StartArray when step.Elements != null:
                while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
                    Visit(ref reader, step.Elements, ref sink);
                break;
            case JsonTokenType.StartObject or JsonTokenType.StartArray:
                reader.Skip();
                break;
            default:
                foreach (var index in step.Indexes)
                    sink.Value(index, ref reader);
                if (step.IsText)
                    sink.Text(ref reader);
                if (step.IsId && reader.TokenType is JsonTokenType.String or JsonTokenType.Number)
                    sink.Id(ref reader);
                break;
        }
    }

    // Of properties with the same name, the first one counts.
    private static void VisitObject<TSink>(ref Utf8JsonReader reader, Step step, ref TSink sink)
        where TSink : IScanSink, allows ref struct
    {
        var seen = step.Names.Length <= MaxNamesOnStack ? stackalloc bool[MaxNamesOnStack] : new bool[step.Names.Length];
        while (reader.Read() && reader.TokenType != JsonTokenType.EndObject)
        {
            var at = IndexOf(ref reader, step.Names);
            reader.Read();
            if (at >= 0 && !seen[at])
            {
                seen[at] = true;
                Visit(ref reader, step.Steps[at], ref sink);
            }
            else
            {
                reader.Skip();
            }
        }
    }

    private static int IndexOf(ref Utf8JsonReader reader, byte[][] names)
    {
        for (var i = 0; i < names.Length; i++)
        {
            if (JsonNames.Equals(ref reader, names[i]))
                return i;
        }

        return -1;
    }

    private Step EndOf(JsonPath path)
    {
        var step = _root;
        foreach (var name in path.Steps)
            step = name == null ? step.Elements ??= new Step() : step.Find(name);
        return step;
    }

    // A place that paths lead to: what begins there, and what ends there.
    private sealed class Step
    {
        private readonly List<(byte[] Name, Step Next)> _properties = [];

        public byte[][] Names { get; private set; } = [];

        public Step[] Steps { get; private set; } = [];

        public Step? Elements { get; set; }

        public List<int> Indexes { get; } = [];

        public bool IsText { get; set; }

        public bool IsId { get; set; }

        public Step Find(ReadOnlySpan<byte> name)
        {
            foreach (var (known, next) in _properties)
            {
                if (name.SequenceEqual(known))
                    return next;
            }

            var step = new Step();
            _properties.Add((name.ToArray(), step));
            return step;
        }

        public void Seal()
        {
            Names = [.. _properties.Select(static property => property.Name)];
            Steps = [.. _properties.Select(static property => property.Next)];
            foreach (var step in Steps)
                step.Seal();
            Elements?.Seal();
        }
    }
}
