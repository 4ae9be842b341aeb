using System.Runtime.CompilerServices;
using Voron.Compression;
using Voron.Format;

namespace Voron.Backup;

/// <summary>Header, note and trailer of a backup.</summary>
/// <param name="Name">The name of the backup, for messages.</param>
/// <param name="Header">The header.</param>
/// <param name="Trailer">The trailer.</param>
/// <param name="Note">The note, or null.</param>
internal sealed record BackupSummary(string Name, BackupHeader Header, BackupTrailer Trailer, string? Note)
{
    /// <summary>Reads a file at both ends. The frames between them are not read.</summary>
    /// <param name="file">The file.</param>
    /// <param name="buffer">The buffer to use, from <see cref="BackupInput.MakeSmallBuffer"/>.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="BackupException">The file is not a backup, is unfinished, or is damaged in these parts.</exception>
    public static async ValueTask<BackupSummary> ReadAsync(BackupSource file, AlignedBuffer buffer, CancellationToken cancellationToken)
    {
        var input = new BackupInput(file, file.Open(), buffer);
        await using (input.ConfigureAwait(false))
        {
            await input.TryFillAsync(BackupHeader.BlockBytes + BackupFrame.Size, cancellationToken).ConfigureAwait(false);
            var header = BackupReader.TakeHeader(input, file.Name);
            var note = await ReadNoteAsync(input, header, file.Name, cancellationToken).ConfigureAwait(false);
            var length = input.SeekLastBlock();
            var isWhole = length >= 2 * BackupHeader.BlockBytes && length % BackupHeader.BlockBytes == 0;
            if (!isWhole || !await input.TryFillAsync(BackupHeader.BlockBytes, cancellationToken).ConfigureAwait(false))
                throw NoTrailer(file.Name, length);
            return new BackupSummary(file.Name, header, TakeTrailer(input, header, file.Name, length), note);
        }
    }

    /// <summary>Reads files at both ends.</summary>
    /// <inheritdoc cref="ReadAsync(BackupSource, AlignedBuffer, CancellationToken)"/>
    public static async ValueTask<List<BackupSummary>> ReadAsync(IReadOnlyList<BackupSource> files, CancellationToken cancellationToken)
    {
        var buffer = BackupInput.MakeSmallBuffer();
        var summaries = new List<BackupSummary>();
        foreach (var file in files)
            summaries.Add(await ReadAsync(file, buffer, cancellationToken).ConfigureAwait(false));
        return summaries;
    }

    /// <summary>Returns the summary of a backup that has been read to its end.</summary>
    public static BackupSummary Of(BackupReader reader) => new(reader.Name, reader.Header, reader.Content.Trailer, reader.Content.Note);

    public BackupInfo ToInfo() => new()
    {
        BackupId = ToGuid(Header.BackupId),
        ParentId = Header.IsFull ? null : ToGuid(Header.ParentId),
        EnvironmentId = ToGuid(Header.EnvironmentId),
        LineageId = ToGuid(Header.Lineage.Id),
        ParentLineageId = ToGuid(Header.Lineage.Parent),
        TransactionId = Trailer.TransactionId,
        ParentTransactionId = Header.ParentTransactionId,
        Time = Trailer.CommitTime == 0 ? null : ToTime(Trailer.CommitTime),
        BeganAt = ToTime(Header.BeganAt),
        FinishedAt = ToTime(Trailer.FinishedAt),
        PageSize = (int)Header.PageSize,
        FormatVersion = (int)Header.EnvironmentVersion,
        Pages = Trailer.UsedPages,
        CopiedPages = Trailer.CopiedPages,
        Bytes = Trailer.Bytes,
        IsBase = (Trailer.Flags & BackupTrailerFlags.IsBase) != 0,
        Note = Note,
    };

    private static Guid ToGuid(RandomId id) => Unsafe.BitCast<RandomId, Guid>(id);

    private static DateTimeOffset ToTime(long ticks) => new(ticks, TimeSpan.Zero);

    // Only the first frame can be a note.
    private static async ValueTask<string?> ReadNoteAsync(
        BackupInput input, BackupHeader header, string name, CancellationToken cancellationToken)
    {
        var place = new BackupPlace(name, BackupHeader.BlockBytes, 1);
        if (PeekNoteBytes(input, place) is not { } bytes)
            return null;
        if (!await input.TryFillAsync(bytes, cancellationToken).ConfigureAwait(false))
            throw place.Unfinished(bytes, input.Available);
        return TakeNote(input, header, place);
    }

    // Returns the length of the note including its frame header; null if the first frame is not a note. The checksum is checked once the bytes
    // are read.
    private static unsafe int? PeekNoteBytes(BackupInput input, BackupPlace place)
    {
        if (input.Available < BackupFrame.Size)
            return null;
        var frame = (BackupFrame*)input.Address;
        if (frame->Marker != BackupFrame.MarkerValue)
            throw place.Damaged($"begins with {frame->Marker:X16} instead of {BackupFrame.MarkerValue:X16}");
        if (frame->Kind != BackupFrameKind.Note)
            return null;
        return BackupFrameLimits.FindFault(*frame) is { } fault ? throw place.Damaged(fault) : BackupFrame.Size + frame->StoredBytes;
    }

    private static unsafe string TakeNote(BackupInput input, in BackupHeader header, BackupPlace place)
    {
        var frame = (BackupFrame*)input.Address;
        if (frame->Sequence != 1 || frame->Previous != header.Checksum)
            throw place.Damaged($"has the sequence {frame->Sequence} and follows the checksum {frame->Previous:X16} instead of {header.Checksum:X16}");
        CheckChecksum(frame, header, place);
        var payload = (byte*)(frame + 1);
        if (frame->Flags != BackupFrameFlags.Compressed)
            return BackupContent.ReadNote(payload, frame->RawBytes, place);

        var text = new AlignedBuffer(BackupFrameLimits.MaxNoteBytes);
        var count = Lz4Block.Decompress(payload, frame->StoredBytes, text.Address, frame->RawBytes);
        if (count != frame->RawBytes)
            throw place.Damaged($"should have {frame->RawBytes} bytes, but {(count < 0 ? "cannot be decompressed" : $"has {count}")}");
        return BackupContent.ReadNote(text.Address, count, place);
    }

    // The chain before the trailer is not read, so a wrong sequence shows only against the number of frames.
    private static unsafe BackupTrailer TakeTrailer(BackupInput input, in BackupHeader header, string name, long length)
    {
        var frame = (BackupFrame*)input.Address;
        if (frame->Marker != BackupFrame.MarkerValue || frame->Kind != BackupFrameKind.Trailer)
            throw NoTrailer(name, length);
        var place = new BackupPlace(name, length - BackupHeader.BlockBytes, frame->Sequence);
        if (BackupFrameLimits.FindFault(*frame) is { } fault)
            throw place.Damaged(fault);
        CheckChecksum(frame, header, place);
        return BackupTrailerCheck.Read((byte*)(frame + 1), header, length, place);
    }

    private static unsafe void CheckChecksum(BackupFrame* frame, in BackupHeader header, BackupPlace place)
    {
        var actual = BackupChecksums.OfFrame(frame, header.BackupId);
        if (frame->Checksum != actual)
            throw place.Damaged($"should have the checksum {frame->Checksum:X16}, but has {actual:X16}");
    }

    private static BackupException NoTrailer(string name, long length) => new(
        BackupFault.Unfinished,
        $"The backup '{name}' is unfinished: it has {length} bytes, and the last {BackupHeader.BlockBytes} of them are not a trailer. Use " +
        "another copy of the backup, or another backup.");
}
