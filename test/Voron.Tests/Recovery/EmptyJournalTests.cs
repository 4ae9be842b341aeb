using System.Runtime.InteropServices;
using Voron.Format;
using Voron.Journal;
using Voron.Paging;
using Voron.Simulation.Disks;
using Voron.Tests.Faults;

namespace Voron.Tests.Recovery;

/// <summary>Files of two moments are refused even where the journal has no record yet that shows it.</summary>
[Quick]
public sealed class EmptyJournalTests
{
    [Fact]
    public void A_header_from_before_the_first_flush_is_refused_beside_a_journal_file_of_a_later_epoch()
    {
        var disk = new SimulatedDisk();
        SortedDictionary<string, byte[]> older;
        using (var environment = StorageEnvironment.Open(disk, FaultTestKit.Options()))
        {
            FaultTestKit.Put(environment, 1, FaultTestKit.Value(1, 100));
            older = FaultTestKit.Bytes(disk);
            for (var i = 0; i < 30; i++)
            {
                FaultTestKit.Put(environment, i, FaultTestKit.Value(i, 12_000));
                if (i % 4 == 3)
                    environment.Flush();
            }
        }

        var images = new CrashImages(disk);
        var newer = Enumerable.Range(0, disk.TraceCount).Select(cut => JournalsAt(images, cut)).FirstOrDefault(files => files.Count > 0);
        newer.Should().NotBeNull("a journal file is begun before it has a record");
        var mixed = new SortedDictionary<string, byte[]>(newer!, StringComparer.Ordinal)
        {
            [HeaderFile.FileName] = older[HeaderFile.FileName],
            [DataFile.FileName] = older[DataFile.FileName],
        };
        using var image = FaultTestKit.DiskOf(mixed);
        var open = () => StorageEnvironment.Open(image, FaultTestKit.Options()).Dispose();
        open.Should().Throw<CorruptionException>().WithMessage("*is from before the first flush*older than the journal*");
    }

    // The journal files of later epochs that have no record, as a copy at that moment would have them.
    private static SortedDictionary<string, byte[]> JournalsAt(CrashImages images, int cut)
    {
        using var disk = images.BuildKilled(cut);
        var files = FaultTestKit.Bytes(disk);
        foreach (var name in files.Keys.Where(name => !IsJournal(name) || !IsLaterAndEmpty(files[name])).ToList())
            files.Remove(name);
        return files;
    }

    private static bool IsJournal(string name) => JournalFile.IndexOf(name) > 0;

    private static bool IsLaterAndEmpty(byte[] file)
    {
        var header = MemoryMarshal.Read<JournalFileHeader>(file);
        var record = MemoryMarshal.Read<RecordHeader>(file.AsSpan(JournalFormat.FirstRecordOffset));
        return header.Magic == JournalFormat.FileMagic && header.Epoch > 1
            && (record.Marker != JournalFormat.RecordMarker || record.Incarnation != header.Incarnation);
    }
}
