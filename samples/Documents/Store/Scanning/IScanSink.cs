using System.Text.Json;

namespace Voron.Documents.Scanning;

/// <summary>Receives what a <see cref="DocumentScanner"/> finds in a document.</summary>
internal interface IScanSink
{
    /// <summary>Called with the id of the document: its property <c>id</c>, if that is a text or a number.</summary>
    void Id(ref Utf8JsonReader value);

    /// <summary>Called with each scalar that the path of an index leads to.</summary>
    /// <param name="index">The number of the index.</param>
    /// <param name="value">A reader on the value.</param>
    void Value(int index, ref Utf8JsonReader value);

    /// <summary>Called with each scalar that the path of a text field leads to.</summary>
    void Text(ref Utf8JsonReader value);
}
