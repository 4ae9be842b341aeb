using System.Text.Json.Serialization.Metadata;

namespace Voron.Tables;

/// <summary>Codecs for the rows of tables.</summary>
public static class RowCodec
{
    /// <summary>Stores each row as a JSON document.</summary>
    /// <remarks>
    /// The document is the only variable field of the row. It is written with the options of the type, except that it is never indented. The codec
    /// uses no reflection, so it works in trimmed and in ahead-of-time compiled programs.
    /// </remarks>
    /// <typeparam name="TRow">The type of the rows.</typeparam>
    /// <param name="type">The type as the source generator describes it: a property of a <c>JsonSerializerContext</c>.</param>
    /// <exception cref="ArgumentNullException">The type is null.</exception>
    /// <example>
    /// <code>
    /// [JsonSerializable(typeof(Package))]
    /// partial class PackageContext : JsonSerializerContext;
    ///
    /// var codec = RowCodec.Json(PackageContext.Default.Package);
    /// </code>
    /// </example>
    public static IRowCodec<TRow> Json<TRow>(JsonTypeInfo<TRow> type)
    {
        ArgumentNullException.ThrowIfNull(type);
        return new JsonRowCodec<TRow>(type);
    }
}
