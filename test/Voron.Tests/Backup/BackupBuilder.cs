using System.Runtime.InteropServices;
using System.Text;
using Voron.Backup;
using Voron.Compression;
using Voron.Format;

namespace Voron.Tests.Backup;

/// <summary>Makes backups of closed environments, valid ones and, by changes of their parts, others.</summary>
internal sealed unsafe class BackupBuilder
{
    private static readonly long Began = new DateTime(2026, 3, 1, 12, 0, 0).Ticks;

    private readonly EnvironmentImage _image;
    private BackupHeader _header;

    private BackupBuilder(EnvironmentImage image, IReadOnlyList<long> pages, int pagesPerFrame)
    {
        _image = image;
        _header = new BackupHeader
        {
            Magic = BackupHeader.MagicValue,
            Version = BackupHeader.CurrentVersion,
            PageSize = image.Header.PageSize,
            EnvironmentVersion = image.Header.Version,
            Features = image.Header.Features,
            BackupId = RandomId.New(),
            EnvironmentId = image.Header.EnvironmentId,
            Lineage = image.Header.Lineage,
            BeganAt = Began,
        };
        for (var i = 0; i < pages.Count; i += pagesPerFrame)
            Frames.Add(PagesFrame([.. pages.Skip(i).Take(pagesPerFrame)]));
        var state = image.Header.State;
        Frames.Add(new(BackupFrameKind.State, MemoryMarshal.AsBytes(new ReadOnlySpan<EnvironmentState>(in state)).ToArray()) { Count = 1 });
    }

    /// <summary>The frames, without those that <see cref="Build"/> adds: used pages, padding, trailer.</summary>
    public List<BuiltFrame> Frames { get; } = [];

    public ref BackupHeader Header => ref _header;

    public bool IsCompressed { get; init; }

    /// <summary>The number of pages in a frame of bits: a multiple of 64.</summary>
    public int BitsPerFrame { get; init; } = 1 << 20;

    /// <summary>Changes the trailer before it gets its checksum.</summary>
    public Func<BackupTrailer, BackupTrailer>? ChangeTrailer { get; set; }

    /// <summary>Changes the header of a frame before it gets its checksum.</summary>
    public Func<BackupFrame, BackupFrame>? ChangeFrame { get; set; }

    /// <summary>All frames of the backup that was built last.</summary>
    public IReadOnlyList<BuiltFrame> Built { get; private set; } = [];

    public static BackupBuilder Full(EnvironmentImage image, int pagesPerFrame = 16, bool isCompressed = false) =>
        new(image, image.UsedPages, pagesPerFrame) { IsCompressed = isCompressed };

    /// <summary>Makes an incremental backup that has the used pages that have changed since another one.</summary>
    public static BackupBuilder Incremental(EnvironmentImage image, BackupBuilder parent, int pagesPerFrame = 16)
    {
        var changed = image.UsedPages.Where(page => !image.IsSameIn(parent._image, page)).ToList();
        var builder = new BackupBuilder(image, changed, pagesPerFrame);
        builder.Header.ParentId = parent.Header.BackupId;
        builder.Header.ParentTransactionId = parent._image.Header.State.TransactionId;
        return builder;
    }

    /// <summary>Makes a frame of pages of the image, one extent for each stretch of neighbours.</summary>
    public BuiltFrame PagesFrame(IReadOnlyList<long> pages)
    {
        var extents = new List<BackupExtent>();
        using var bytes = new MemoryStream();
        foreach (var page in pages)
        {
            if (extents.Count > 0 && extents[^1].FirstPage + extents[^1].Pages == page)
                CollectionsMarshal.AsSpan(extents)[^1].Pages++;
            else
                extents.Add(new BackupExtent { FirstPage = page, Pages = 1 });
            bytes.Write(_image.Page(page));
        }

        byte[] raw = [.. MemoryMarshal.AsBytes(CollectionsMarshal.AsSpan(extents)), .. bytes.ToArray()];
        return new BuiltFrame(BackupFrameKind.Pages, raw) { Count = extents.Count };
    }

    public BackupBuilder WithNote(string note)
    {
        var raw = Encoding.UTF8.GetBytes(note);
        Frames.Insert(0, new BuiltFrame(BackupFrameKind.Note, raw) { Count = raw.Length });
        return this;
    }

    /// <summary>Adds an index of all pages before the state, in several frames.</summary>
    public BackupBuilder WithIndex()
    {
        for (var at = 1; at < Frames.Count; at++)
        {
            if (Frames[at - 1].Kind == BackupFrameKind.Pages && Frames[at].Kind is BackupFrameKind.Pages or BackupFrameKind.State)
                Frames.Insert(at++, new BuiltFrame(BackupFrameKind.Index, new byte[BackupIndexEntry.Size]) { Count = 1 });
        }

        return this;
    }

    public byte[] Build()
    {
        var block = new byte[BackupHeader.BlockBytes];
        MemoryMarshal.Write(block, in _header);
        fixed (byte* start = block)
            _header.Checksum = ((BackupHeader*)start)->Checksum = BackupChecksums.OfHeader(start);

        var backup = new List<byte>(block);
        var built = new List<BuiltFrame>();
        var previous = _header.Checksum;
        foreach (var frame in Frames.Select(frame => frame.Copy()).Concat(UsedPages()))
        {
            if (frame.Kind == BackupFrameKind.Index)
                FillIndex(frame, built);
            Append(frame);
        }

        var gap = -backup.Count & (BackupHeader.BlockBytes - 1);
        if (gap != 0)
            Append(new(BackupFrameKind.Padding, new byte[gap - BackupFrame.Size + (gap < BackupFrame.Size ? BackupHeader.BlockBytes : 0)]));
        Append(new(BackupFrameKind.Trailer, TrailerOf(backup.Count + BackupHeader.BlockBytes, built)));
        Built = built;
        return [.. backup];

        void Append(BuiltFrame frame)
        {
            frame.Offset = backup.Count;
            built.Add(frame);
            var bytes = Encode(frame, built.Count, previous);
            previous = MemoryMarshal.Read<BackupFrame>(bytes).Checksum;
            frame.Bytes = bytes.Length;
            backup.AddRange(bytes);
        }
    }

    private static void FillIndex(BuiltFrame index, List<BuiltFrame> built)
    {
        if (built.FindLast(frame => frame.Kind == BackupFrameKind.Pages) is { } pages)
        {
            var extent = MemoryMarshal.Read<BackupExtent>(pages.Raw);
            var entry = new BackupIndexEntry { FirstPage = extent.FirstPage, Pages = extent.Pages, FrameOffset = pages.Offset };
            MemoryMarshal.Write(index.Raw, in entry);
        }

        index.Link = built.LastOrDefault(frame => frame.Kind == BackupFrameKind.Index)?.Offset ?? 0;
    }

    private IEnumerable<BuiltFrame> UsedPages()
    {
        var count = _image.Header.State.PageCount;
        for (var first = 0L; first < count; first += BitsPerFrame)
        {
            var bits = (int)Math.Min(BitsPerFrame, count - first);
            var raw = new byte[(bits + 7) / 8];
            foreach (var page in _image.UsedPages.Where(page => page >= first && page < first + bits))
                raw[(page - first) / 8] |= (byte)(1 << (int)((page - first) % 8));
            yield return new BuiltFrame(BackupFrameKind.UsedPages, raw) { Count = bits, Link = first };
        }
    }

    private byte[] TrailerOf(int bytes, List<BuiltFrame> built)
    {
        var indexes = built.Where(frame => frame.Kind == BackupFrameKind.Index).ToList();
        var trailer = new BackupTrailer
        {
            TransactionId = _image.Header.State.TransactionId,
            CommitTime = _image.Header.State.CommitTime,
            FinishedAt = Began + TimeSpan.TicksPerMinute,
            PageCount = _image.Header.State.PageCount,
            UsedPages = _image.UsedPages.Count,
            CopiedPages = built.Where(frame => frame.Kind == BackupFrameKind.Pages)
                .Sum(frame => (frame.Raw.Length - frame.Count * BackupExtent.Size) / _image.PageSize),
            Frames = built.Count + 1,
            Bytes = bytes,
            IndexOffset = indexes.Count == 0 ? 0 : indexes[^1].Offset,
            IndexEntries = indexes.Sum(frame => frame.Count),
            Flags = BackupTrailerFlags.IsBase,
        };
        trailer = ChangeTrailer?.Invoke(trailer) ?? trailer;
        var raw = new byte[BackupTrailer.PayloadBytes];
        MemoryMarshal.Write(raw, in trailer);
        return raw;
    }

    private byte[] Encode(BuiltFrame frame, long sequence, ulong previous)
    {
        var stored = frame.Raw;
        if (IsCompressed && frame.Kind is not (BackupFrameKind.Padding or BackupFrameKind.Trailer) && Compress(frame.Raw) is { } smaller)
            stored = smaller;
        var header = new BackupFrame
        {
            Marker = BackupFrame.MarkerValue,
            Previous = previous,
            Sequence = sequence,
            Kind = frame.Kind,
            Flags = stored == frame.Raw ? BackupFrameFlags.None : BackupFrameFlags.Compressed,
            Count = frame.Count,
            RawBytes = frame.Raw.Length,
            StoredBytes = stored.Length,
            Link = frame.Link,
        };
        header = ChangeFrame?.Invoke(header) ?? header;
        byte[] bytes = [.. MemoryMarshal.AsBytes(new ReadOnlySpan<BackupFrame>(in header)), .. stored];

        // A forged length would lead the checksum out of the frame.
        if (header.StoredBytes == stored.Length)
        {
            fixed (byte* start = bytes)
                ((BackupFrame*)start)->Checksum = BackupChecksums.OfFrame((BackupFrame*)start, _header.BackupId);
        }

        return bytes;
    }

    private static byte[]? Compress(byte[] raw)
    {
        var target = new byte[raw.Length];
        fixed (byte* from = raw, to = target)
        {
            var length = raw.Length < 16 ? 0 : Lz4Block.Compress(from, raw.Length, to, target.Length - 1);
            return length == 0 ? null : target[..length];
        }
    }
}
