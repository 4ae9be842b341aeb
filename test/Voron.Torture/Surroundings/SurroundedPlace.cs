using System.Text;
using Voron.Simulation.Harness;

namespace Voron.Torture.Surroundings;

/// <summary>A directory with an environment, its acknowledged content, and foreign files beside it.</summary>
internal sealed class SurroundedPlace : IDisposable
{
    private const string TreeName = "items";
    private const int MaxKeys = 300;

    private readonly SortedDictionary<int, byte[]> _items = [];
    private readonly string _root = Directory.CreateTempSubdirectory("voron-surroundings-").FullName;
    private readonly List<KeyValuePair<int, byte[]>[]> _states = [];
    private int _killed;

    public SurroundedPlace(SuiteRun run)
    {
        Run = run;
        Path = System.IO.Path.Combine(_root, "store");
    }

    public SuiteRun Run { get; }

    /// <summary>The current directory of the environment.</summary>
    public string Path { get; set; }

    /// <summary>The foreign files, with their expected content.</summary>
    public Dictionary<string, byte[]> Foreign { get; } = [];

    /// <summary>Keeps each committed state from here on, so that <see cref="ShouldHaveSome"/> knows them.</summary>
    public void Remember() => _states.Add([.. _items]);

    /// <summary>Returns a path beside the environment's directory.</summary>
    public string Beside(string name) => System.IO.Path.Combine(_root, name);

    public string FileOf(string name) => System.IO.Path.Combine(Path, name);

    public static StorageOptions Options(bool readOnly = false, bool background = false) => new()
    {
        JournaledValueBytes = 0,
        BackgroundFlush = background,
        InitialJournalFileBytes = 64 << 10,
        MaxJournalFileBytes = 128 << 10,
        ReadOnly = readOnly,
    };

    /// <summary>Creates an environment with some history, and closes it properly.</summary>
    public void Work()
    {
        using var environment = StorageEnvironment.Open(Path, Options());
        for (var left = 1 + Run.Choices.Next(20); left > 0; left--)
            Commit(environment);
    }

    /// <summary>Commits one transaction, and now and then flushes.</summary>
    public void Commit(StorageEnvironment environment, bool mayFlush = true)
    {
        var count = 1 + Run.Choices.Next(4);
        var changes = new List<(int Key, byte[] Value)>();
        using (var writing = environment.BeginWrite())
        {
            var tree = writing.CreateTree(TreeName);
            for (var i = 0; i < count; i++)
            {
                var key = Run.Choices.Next(MaxKeys);
                var value = new byte[1 + Run.Choices.Next(9_000)];
                new Random(Run.Choices.Next()).NextBytes(value);
                tree.Put(KeyOf(key), value);
                changes.Add((key, value));
            }
            writing.Commit();
        }
        foreach ((var key, var value) in changes)
            _items[key] = value;
        if (_states.Count > 0)
            Remember();
        if (mayFlush && Run.Choices.Next(5) == 0)
            environment.Flush();
    }

    /// <summary>Continues to work, and leaves the files as a killed process would.</summary>
    public void Kill()
    {
        var next = Beside($"killed-{++_killed}");
        using (var environment = StorageEnvironment.Open(Path, Options()))
        {
            for (var left = 1 + Run.Choices.Next(12); left > 0; left--)
                Commit(environment);
            CopyTo(next);
        }
        Path = next;
    }

    /// <summary>
    /// Opens the environment, makes it write a record without a transaction, and leaves the files as a killed process would.
    /// </summary>
    public void KillConfirmed()
    {
        var next = Beside($"killed-{++_killed}");
        using (var environment = StorageEnvironment.Open(Path, Options()))
        {
            environment.Internals.ConfirmDurability();
            CopyTo(next);
        }
        Path = next;
    }

    public void CopyTo(string target)
    {
        Directory.CreateDirectory(target);
        foreach (var file in Directory.GetFiles(Path))
            File.WriteAllBytes(System.IO.Path.Combine(target, System.IO.Path.GetFileName(file)), ReadFile(file));
    }

    /// <summary>Adds a file that does not belong to the engine.</summary>
    public void AddForeign(string name)
    {
        var path = FileOf(name);
        if (File.Exists(path))
            return;
        var bytes = Encoding.UTF8.GetBytes("not the engine's: " + name);
        File.WriteAllBytes(path, bytes);
        Foreign[name] = bytes;
    }

    /// <summary>Checks that everything acknowledged is present, for readers and writers, and that foreign files are unchanged.</summary>
    public void ShouldHaveAll()
    {
        if (Run.Choices.Next(2) == 0)
        {
            using var reading = StorageEnvironment.Open(Path, Options(readOnly: true));
            Compare(reading);
        }
        for (var round = 0; round < 2; round++)
        {
            using var environment = StorageEnvironment.Open(Path, Options());
            Compare(environment);
            Commit(environment);
            environment.Flush();
            var report = environment.Verify();
            BrokenPromiseException.Require(report.IsSound, report.ToString());
        }
        foreach ((var name, var bytes) in Foreign)
        {
            BrokenPromiseException.Require(File.Exists(FileOf(name)), $"'{name}' does not belong to the engine, and is gone.");
            BrokenPromiseException.Require(ReadFile(FileOf(name)).AsSpan().SequenceEqual(bytes), $"'{name}' does not belong to the engine, and was changed.");
        }
    }

    public void Compare(StorageEnvironment environment)
    {
        using var reading = environment.BeginRead();
        var tree = reading.OpenTree(TreeName);
        BrokenPromiseException.Require(tree.Count == _items.Count, $"There are {tree.Count} items, and {_items.Count} were acknowledged.");
        foreach ((var key, var value) in _items)
        {
            var isRight = tree.TryGet(KeyOf(key), out var found) && found.SequenceEqual(value);
            BrokenPromiseException.Require(isRight, $"Item {key} differs from its acknowledged value.");
        }
    }

    /// <summary>Checks that the content is one of the committed states, unless the environment cannot be opened.</summary>
    /// <returns>The number of missing commits, or -1.</returns>
    public int ShouldHaveSome()
    {
        StorageEnvironment environment;
        try
        {
            environment = StorageEnvironment.Open(Path, Options());
        }
        catch (CorruptionException)
        {
            return -1;
        }
        using (environment)
        {
            using var reading = environment.BeginRead();
            var tree = reading.OpenTree(TreeName);
            var missing = 0;
            while (missing < _states.Count && !IsState(tree, _states[^(missing + 1)]))
                missing++;
            BrokenPromiseException.Require(missing < _states.Count, "The content was never committed.");
            return missing;
        }
    }

    private static bool IsState(Tree tree, KeyValuePair<int, byte[]>[] items)
    {
        if (tree.Count != items.Length)
            return false;
        foreach ((var key, var value) in items)
        {
            if (!tree.TryGet(KeyOf(key), out var found) || !found.SequenceEqual(value))
                return false;
        }
        return true;
    }

    /// <summary>Checks that an opening is refused with an engine exception, and changes no file.</summary>
    public static void ShouldBeRefused<TException>(string path, bool readOnly)
        where TException : VoronException
    {
        var before = FilesOf(path);
        try
        {
            StorageEnvironment.Open(path, Options(readOnly)).Dispose();
        }
        catch (TException)
        {
            var after = FilesOf(path);
            var isSame = before.Keys.SequenceEqual(after.Keys) && before.All(file => file.Value.AsSpan().SequenceEqual(after[file.Key]));
            BrokenPromiseException.Require(isSame, $"An opening that was refused has changed files in '{path}'.");
            return;
        }
        catch (VoronException e)
        {
            throw new BrokenPromiseException($"An opening of '{path}' that should be refused by {typeof(TException).Name} ended with {e.GetType().Name}: {e.Message}", e);
        }
        throw new BrokenPromiseException($"An opening of '{path}' should be refused by {typeof(TException).Name}, and was not.");
    }

    public static SortedDictionary<string, byte[]> FilesOf(string path)
    {
        var files = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        foreach (var file in Directory.GetFiles(path))
            files.Add(System.IO.Path.GetFileName(file), ReadFile(file));
        return files;
    }

    public static byte[] ReadFile(string file)
    {
        using var stream = new FileStream(file, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        var bytes = new byte[stream.Length];
        stream.ReadExactly(bytes);
        return bytes;
    }

    public void Dispose() => Directory.Delete(_root, recursive: true);

    private static byte[] KeyOf(int key) => [(byte)(key >> 8), (byte)key];
}
