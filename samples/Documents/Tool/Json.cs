using System.Text.Encodings.Web;
using System.Text.Json;

namespace Voron.Documents.Tool;

internal static class Json
{
    /// <summary>Writes characters as they are, where JSON permits it: the documents are for files and terminals, not for pages.</summary>
    public static readonly JsonWriterOptions Readable = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };
}
