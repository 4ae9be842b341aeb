using System.Buffers;
using System.Text.Json;

namespace Voron.Tables;

/// <summary>One JSON writer per thread, which is reused for each row.</summary>
internal static class JsonWriterPool
{
    [field: ThreadStatic]
    private static Utf8JsonWriter? Free { get; set; }

    /// <summary>Takes the writer of the thread, or creates another one if it is in use or escapes other characters.</summary>
    public static Utf8JsonWriter Rent(IBufferWriter<byte> destination, JsonSerializerOptions options)
    {
        var writer = Free;
        if (writer == null || writer.Options.Encoder != options.Encoder)
            return new Utf8JsonWriter(destination, new JsonWriterOptions { Encoder = options.Encoder, SkipValidation = true });
        Free = null;
        writer.Reset(destination);
        return writer;
    }

    /// <summary>Flushes the writer, and keeps it for the next row of the thread.</summary>
    public static void Return(Utf8JsonWriter writer)
    {
        writer.Flush();

        // Otherwise every thread that has written a row would keep the buffer of that row alive.
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
