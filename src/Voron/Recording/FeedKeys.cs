using System.Buffers.Binary;

namespace Voron.Recording;

/// <summary>The keys of the feed tree.</summary>
/// <remarks>
/// <code>
///   00                  the number of the next feed (2 bytes)
///   01 feed             the number of the next source of a feed (4 bytes)
///   02 name             a feed
///   03 feed source      a source of a feed
///   04 feed consumer    the position of a consumer
///   05 tree             how the changes of a tree are recorded
/// </code>
/// Numbers in keys are big-endian: those of feeds have two bytes, those of sources and trees four.
/// </remarks>
internal static class FeedKeys
{
    public const int TreeBytes = 1 + sizeof(uint);
    public const int SourceBytes = 1 + sizeof(ushort) + sizeof(uint);
    public const int NextSourceBytes = 1 + sizeof(ushort);

    private const byte NextFeedMark = 0;
    private const byte NextSourceMark = 1;
    private const byte FeedMark = 2;
    private const byte SourceMark = 3;
    private const byte ConsumerMark = 4;
    private const byte TreeMark = 5;

    public static ReadOnlySpan<byte> NextFeed => [NextFeedMark];

    /// <summary>The key prefix of all feeds.</summary>
    public static ReadOnlySpan<byte> Feeds => [FeedMark];

    /// <summary>The key prefix of all trees whose changes are recorded.</summary>
    public static ReadOnlySpan<byte> Trees => [TreeMark];

    public static byte[] Feed(ReadOnlySpan<byte> name) => [FeedMark, .. name];

    public static ReadOnlySpan<byte> NextSource(ushort feed, Span<byte> buffer) => Write(NextSourceMark, feed, buffer);

    public static ReadOnlySpan<byte> Source(ushort feed, uint source, Span<byte> buffer)
    {
        Write(SourceMark, feed, buffer);
        BinaryPrimitives.WriteUInt32BigEndian(buffer[NextSourceBytes..], source);
        return buffer[..SourceBytes];
    }

    /// <summary>Returns the key prefix of all sources of a feed.</summary>
    public static byte[] Sources(ushort feed) => Write(SourceMark, feed, new byte[NextSourceBytes]).ToArray();

    /// <summary>Returns the number in the key of a source.</summary>
    public static uint SourceNumber(ReadOnlySpan<byte> key) =>
        key.Length == SourceBytes ? BinaryPrimitives.ReadUInt32BigEndian(key[NextSourceBytes..]) : 0;

    /// <summary>Returns the key prefix of all consumers of a feed.</summary>
    public static byte[] Consumers(ushort feed) => Write(ConsumerMark, feed, new byte[NextSourceBytes]).ToArray();

    public static byte[] Consumer(ushort feed, ReadOnlySpan<byte> name) => [.. Consumers(feed), .. name];

    /// <summary>Returns the name in the key of a consumer.</summary>
    public static ReadOnlySpan<byte> ConsumerName(ReadOnlySpan<byte> key) => key[NextSourceBytes..];

    /// <summary>Returns the key of the recording of a tree.</summary>
    public static byte[] Tree(uint treeId) => Tree(treeId, new byte[TreeBytes]).ToArray();

    /// <summary>Returns the id in the key of a tree; 0 if it has none.</summary>
    public static uint TreeId(ReadOnlySpan<byte> key) => key.Length == TreeBytes ? BinaryPrimitives.ReadUInt32BigEndian(key[1..]) : 0;

    /// <summary>Returns the key of a source.</summary>
    public static byte[] Source(ushort feed, uint source) => Source(feed, source, new byte[SourceBytes]).ToArray();

    public static ReadOnlySpan<byte> Tree(uint treeId, Span<byte> buffer)
    {
        buffer[0] = TreeMark;
        BinaryPrimitives.WriteUInt32BigEndian(buffer[1..], treeId);
        return buffer[..TreeBytes];
    }

    private static ReadOnlySpan<byte> Write(byte mark, ushort feed, Span<byte> buffer)
    {
        buffer[0] = mark;
        BinaryPrimitives.WriteUInt16BigEndian(buffer[1..], feed);
        return buffer[..NextSourceBytes];
    }
}
