using Voron.Format;
using Voron.IO;
using Voron.Journal;

namespace Voron.Torture.Schedules;

/// <summary>Makes all writes of journal records fail from some point on.</summary>
internal sealed class FailingJournal
{
    public bool Fails { get; set; }

    public DiskFile Watch(string name, DiskFile file) =>
        name.StartsWith(JournalFile.NamePrefix, StringComparison.Ordinal) ? new FailingFile(this, file) : file;

    private sealed class FailingFile(FailingJournal journal, DiskFile file) : DiskFile(file.Path, file.Access)
    {
        public override long Length => file.Length;

        public override void SetLength(long length) => file.SetLength(length);

        public override void Allocate(long offset, long length) => file.Allocate(offset, length);

        public override bool TryPunchHole(long offset, long length) => file.TryPunchHole(offset, length);

        public override void Read(long offset, Span<byte> destination) => file.Read(offset, destination);

        public override void Write(long offset, ReadOnlySpan<byte> source) => file.Write(offset, source);

        // Records are written with this call, and the headers of a new file. Some of the records reach the file.
        public override void WriteVectored(long offset, ReadOnlySpan<IoBlock> blocks)
        {
            if (journal.Fails && offset >= JournalFormat.FirstRecordOffset)
            {
                file.WriteVectored(offset, blocks[..(blocks.Length / 2)]);
                throw new DiskException(DiskError.Failed, "write", Path, "planned");
            }
            file.WriteVectored(offset, blocks);
        }

        public override void Sync() => file.Sync();

        public override FileMap Map(long length) => file.Map(length);

        protected override void Dispose(bool disposing) => file.Dispose();
    }
}
