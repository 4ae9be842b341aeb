using System.Text;
using System.Text.Json;
using Voron.Documents.Scanning;

namespace Voron.Documents;

/// <summary>Called for each scalar that a path leads to.</summary>
/// <param name="value">A reader on the token of the value.</param>
/// <param name="state">What the caller has passed.</param>
internal delegate void JsonValueAction<TState>(ref Utf8JsonReader value, ref TState state)
    where TState : allows ref struct;

/// <summary>A path into JSON documents, such as <c>$.depends[*].name</c>: names of properties, and <c>[*]</c> for all elements of an array.</summary>
internal sealed class JsonPath
{
    // A null is [*].
    private readonly byte[]?[] _steps;

    private JsonPath(string text, byte[]?[] steps)
    {
        Text = text;
        _steps = steps;
    }

    /// <summary>The path as it is stored and shown: with <c>$.</c> at its beginning.</summary>
    public string Text { get; }

    /// <summary>The names of properties, and null for all elements of an array.</summary>
    public IReadOnlyList<byte[]?> Steps => _steps;

    /// <summary>Reads a path. The <c>$.</c> at the beginning may be left out.</summary>
    /// <exception cref="QueryException">The text is no path.</exception>
    public static JsonPath Parse(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        var rest = text.StartsWith("$.", StringComparison.Ordinal) ? text.AsSpan(2) : text.AsSpan();
        var steps = new List<byte[]?>();
        while (true)
        {
            var end = rest.IndexOfAny('.', '[');
            var name = end < 0 ? rest : rest[..end];
            if (name.IsEmpty)
                throw new QueryException($"'{text}' is no path: a name of a property is missing. Write it like $.maintainer.name or $.depends[*].name.");
            steps.Add(Encoding.UTF8.GetBytes(name.ToString()));
            rest = end < 0 ? default : rest[end..];
            while (rest.StartsWith("[*]"))
            {
                steps.Add(null);
                rest = rest[3..];
            }

            if (rest.IsEmpty)
                return new JsonPath(Canonical(steps), [.. steps]);
            if (rest[0] != '.')
                throw new QueryException($"'{text}' is no path: '{rest}' was expected to continue with a period or with [*].");
            rest = rest[1..];
        }
    }

    /// <summary>True if the path can lead to more than one value of a document.</summary>
    public bool IsMultiple => Array.IndexOf(_steps, null) >= 0;

    /// <summary>Calls an action for each scalar that the path leads to in a document, in their order. Objects and arrays at its end have none.</summary>
    /// <returns>The number of these scalars.</returns>
    /// <exception cref="JsonException">The document is no JSON.</exception>
    public int Visit<TState>(ReadOnlySpan<byte> json, ref TState state, JsonValueAction<TState> action)
        where TState : allows ref struct
    {
        var reader = new Utf8JsonReader(json);
        return reader.Read() ? Visit(ref reader, 0, ref state, action) : 0;
    }

    public override string ToString() => Text;

    private int Visit<TState>(ref Utf8JsonReader reader, int step, ref TState state, JsonValueAction<TState> action)
        where TState : allows ref struct
    {
        if (step == _steps.Length)
        {
            if (reader.TokenType is JsonTokenType.StartObject or JsonTokenType.StartArray)
            {
                reader.Skip();
                return 0;
            }

            action(ref reader, ref state);
            return 1;
        }

        var count = 0;
        var name = _steps[step];
        if (name == null && reader.TokenType == JsonTokenType.StartArray)
        {
            while (reader.Read() && reader.TokenType != JsonTokenType.EndArray)
                count += Visit(ref reader, step + 1, ref state, action);
        }
        else if (name != null && reader.TokenType == JsonTokenType.StartObject)
        {
            // Of properties with the same name, the first one counts.
            var isFound = false;
            while (reader.Read() && reader.TokenType != JsonTokenType.EndObject)
            {
                var isStep = !isFound && JsonNames.Equals(ref reader, name);
                reader.Read();
                if (isStep)
                    count += Visit(ref reader, step + 1, ref state, action);
                else
                    reader.Skip();
                isFound |= isStep;
            }
        }
        else
        {
            reader.Skip();
        }

        return count;
    }

    private static string Canonical(List<byte[]?> steps)
    {
        var text = new StringBuilder("$");
        foreach (var step in steps)
            _ = step == null ? text.Append("[*]") : text.Append('.').Append(Encoding.UTF8.GetString(step));
        return text.ToString();
    }
}
