using System.Buffers;
using System.Text.Json;

namespace Voron.Tables;

/// <summary>One JSON writer for each thread, which is used for one row after the other.</summary>
internal static class JsonWriterPool
{
    [field: ThreadStatic]
    private static Utf8JsonWriter? Free { get; set; }

    /// <summary>Takes the writer of the thread, or creates one if it is in use or escapes other characters.</summary>
    public static Utf8JsonWriter Rent(IBufferWriter<byte> destination, JsonSerializerOptions options)
    {
        var writer = Free;
        if (writer == null || writer.Options.Encoder != options.Encoder)
            return new Utf8JsonWriter(destination, new JsonWriterOptions { Encoder = options.Encoder, SkipValidation = true });
        Free = null;
        writer.Reset(destination);
        return writer;
    }

    /// <summary>Writes what the writer still holds, and keeps it for the next row of the thread.</summary>
    public static void Return(Utf8JsonWriter writer)
    {
        writer.Flush();

        // The buffer of the row must not be kept alive by every thread that has ever written one.
        writer.Reset(Nowhere.Instance);
        Free = writer;
    }

    private sealed class Nowhere : IBufferWriter<byte>
    {
        public static readonly Nowhere Instance = new();

        public void Advance(int count) => throw Misuse();

        public Memory<byte> GetMemory(int sizeHint = 0) => throw Misuse();

        public Span<byte> GetSpan(int sizeHint = 0) => throw Misuse();

        private static InvalidOperationException Misuse() => new("The JSON writer is not in use. A converter must not keep it.");
    }
}
