using System.Text;
using Microsoft.Data.Sqlite;
using Tour.Data;
using Tour.Engines;
using Tour.Output;
using Voron;

namespace Tour.Chapters;

/// <summary>Backs the environment up, damages a page of its file, finds the damage, restores the backup, and compares.</summary>
internal sealed class RepairChapter(TourContext tour)
{
    private Screen Screen => tour.Screen;

    /// <summary>Whether SQLite has noticed the damage.</summary>
    public bool SqliteNoticed { get; private set; }

    /// <param name="voron">The environment, which is closed.</param>
    /// <param name="directory">Its directory.</param>
    /// <param name="sqlite">The database, which is closed.</param>
    /// <param name="file">Its file.</param>
    public async Task RunAsync(VoronStore voron, string directory, SqliteStore sqlite, string file)
    {
        Screen.Heading("8. Backup, damage, restore");
        var marked = Mark(voron, sqlite, out var mark);
        var contents = ContentsOf(voron);
        var backup = tour.Workplace.PathOf("tour.vback");
        var report = await Screen.ShowWorkAsync("Backing up", async () => await voron.Environment.BackupAsync(backup, cancellationToken: tour.Stop));
        Screen.Say(
            $"Backed up the open environment in {report.Duration.TotalSeconds:F1} s: {report.Pages:N0} pages in a file of "
            + $"{report.Bytes / 1e6:N0} MB.");

        voron.Dispose();
        Damage(Path.Combine(directory, "voron.data"), mark);
        using (var damaged = StorageEnvironment.Open(directory))
            Examine(damaged, marked);
        tour.Stop.ThrowIfCancellationRequested();
        sqlite.Dispose();
        Damage(file, mark);
        ExamineSqlite(file, marked);

        var restored = tour.Workplace.PathOf("restored");
        var restore = await Screen.ShowWorkAsync(
            "Restoring", async () => await BackupFile.RestoreAsync(backup, restored, cancellationToken: tour.Stop));
        Screen.Say($"Restored the backup to a new directory, and verified it, in {restore.Duration.TotalSeconds:F1} s.");
        using var sound = new VoronStore(restored);
        tour.Checks.That(restore.Verification?.IsSound == true, "every page of the restored environment is sound");
        var count = contents.Sum(static content => content.Count);
        tour.Checks.That(ContentsOf(sound).SequenceEqual(contents), $"it holds the same {count:N0} entries as before the damage");
    }

    // Bytes that are nowhere else in the files, so that the damage is to a page in use, and to a text that can be shown.
    private Member Mark(VoronStore voron, SqliteStore sqlite, out byte[] mark)
    {
        mark = Encoding.UTF8.GetBytes($"Read on tour {Guid.NewGuid():N}. ");
        var marked = tour.Data.Sample with { Text = [.. mark, .. tour.Data.Sample.Text] };
        foreach (var store in (IStore[])[voron, sqlite])
        {
            store.Put(Tables.Members, marked);
            store.Settle();
        }

        return marked;
    }

    private static List<Digest> ContentsOf(VoronStore store) => [.. Tables.All.Select(table =>
    {
        using var snapshot = store.OpenSnapshot(table);
        return snapshot.ReadAll();
    })];

    private static void Damage(string path, byte[] mark)
    {
        if (BitFlip.Behind(path, mark).Count == 0)
            throw new TourException($"'{path}' does not have the text that was committed, so that nothing was damaged.");
    }

    private void Examine(StorageEnvironment damaged, Member marked)
    {
        Screen.Say("Flipped one bit of a text in voron.data. Voron, asked for that text:");
        var message = "";
        using (var reading = damaged.BeginRead())
        {
            try
            {
                reading.OpenTree(Tables.Members).TryGet(marked.Key, out _);
            }
            catch (CorruptionException e)
            {
                message = e.Message;
            }
        }

        Screen.Quote(message.Length > 0 ? message : "no exception");
        tour.Checks.That(message.Contains("Page", StringComparison.Ordinal), "an exception names the page, instead of a damaged text");
        var report = damaged.Verify();
        Screen.Say("Voron, asked to verify every page:");
        Screen.Quote(report.IsSound ? "no problems" : report.Problems[0]);

        // Long values are on pages of their own. Those that only the damaged page led to have no owner now.
        var damagedPages = report.Problems.Count(static problem => problem.Contains("is damaged", StringComparison.Ordinal));
        if (report.Problems.Count > damagedPages)
            Screen.Say($"It has {report.Problems.Count - damagedPages} more lines, about pages that only the damaged page led to.");
        tour.Checks.That(damagedPages == 1, "the verification finds the damaged page, and no others");
        CountReadable(damaged);
    }

    private void CountReadable(StorageEnvironment damaged)
    {
        using var reading = damaged.BeginRead();
        var tree = reading.OpenTree(Tables.Members);
        var lost = 0;
        foreach (var member in tour.Data.Members)
        {
            try
            {
                if (!tree.TryGet(member.Key, out _))
                    lost++;
            }
            catch (CorruptionException)
            {
                lost++;
            }
        }

        Screen.Say($"Entries lost with that page: {lost:N0}. Entries that can still be read: {tour.Data.Count - lost:N0}.");
        tour.Checks.That(lost > 0 && lost < tour.Data.Count, "entries of other pages remain readable");
    }

    private void ExamineSqlite(string file, Member marked)
    {
        Screen.Say("Flipped the same bit in SQLite's file. SQLite, asked for that text, and for PRAGMA integrity_check:");
        string text, check;
        try
        {
            using var damaged = new SqliteStore(file);
            var read = damaged.Get(Tables.Members, marked.Key) ?? [];
            SqliteNoticed = read.AsSpan().SequenceEqual(marked.Text);
            text = Encoding.UTF8.GetString(read).Split('\n')[0];
            check = damaged.CheckIntegrity();
            SqliteNoticed |= check != "ok";
        }
        catch (SqliteException e)
        {
            SqliteNoticed = true;
            (text, check) = (e.Message, "");
        }

        Screen.Quote(text);
        Screen.Quote(check);
        if (!SqliteNoticed)
            Screen.Say("SQLite returned a text that was never written. Its page checksums are an extension, which this package does not include.");
    }
}
