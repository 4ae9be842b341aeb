namespace Voron.Simulation.Disks;

/// <summary>The files of an environment as a user might copy them: names and bytes, without changes on their way to the medium.</summary>
internal sealed class FileSet
{
    private const string LockName = "voron.lock";

    private readonly SortedDictionary<string, BlockContent> _files = new(StringComparer.Ordinal);

    public IReadOnlyCollection<string> Names => _files.Keys;

    public BlockContent this[string name]
    {
        get => _files[name];
        set => _files[name] = value;
    }

    /// <summary>Copies the visible content of every file at one moment. The lock file is not part of the environment.</summary>
    public static FileSet Of(SimulatedDisk disk)
    {
        var set = new FileSet();
        foreach (var entry in disk.List().Where(entry => entry.Name != LockName))
            set[entry.Name] = disk.CopyOf(entry.Name);
        return set;
    }

    public bool Contains(string name) => _files.ContainsKey(name);

    public void Remove(string name) => _files.Remove(name);

    /// <summary>Returns these files, with the named ones replaced by those of another set.</summary>
    public FileSet With(FileSet others, params IEnumerable<string> names)
    {
        var set = new FileSet();
        foreach (var (name, content) in _files)
            set[name] = content;
        foreach (var name in names)
        {
            if (others.Contains(name))
                set[name] = others[name];
            else
                set.Remove(name);
        }

        return set;
    }

    /// <summary>Creates a disk that has these files, all durable.</summary>
    public SimulatedDisk ToDisk(int listingOrder = 0)
    {
        var state = new DurableState();
        var contents = new Dictionary<int, BlockContent>();
        foreach (var (name, content) in _files)
        {
            var id = contents.Count + 1;
            state.Names.Add(name, id);
            state.Files.Add(id, new DurableFile { Content = content.Clone() });
            contents.Add(id, content.Clone());
        }

        return new SimulatedDisk(state, state.Names, contents) { ListingOrder = listingOrder };
    }
}
