namespace Voron.Simulation.Disks;

/// <summary>The bytes of an environment's files, by name. They never change: damage is done to a copy.</summary>
internal sealed class StoreFiles
{
    private readonly SortedDictionary<string, byte[]> _files;

    public StoreFiles(IEnumerable<KeyValuePair<string, byte[]>> files) =>
        _files = new SortedDictionary<string, byte[]>(new Dictionary<string, byte[]>(files), StringComparer.Ordinal);

    public IReadOnlyCollection<string> Names => _files.Keys;

    public byte[] this[string name] => _files[name];

    public bool Has(string name) => _files.ContainsKey(name);

    public IEnumerable<KeyValuePair<string, byte[]>> All => _files;

    /// <summary>Returns the same files, one of them with other bytes.</summary>
    public StoreFiles With(string name, byte[] bytes) => new(_files.Where(file => file.Key != name).Append(new(name, bytes)));

    /// <summary>Returns the files without those that are left out.</summary>
    public StoreFiles Without(Predicate<string> isLeftOut) => new(_files.Where(file => !isLeftOut(file.Key)));

    /// <summary>Lists all files in one line, for messages.</summary>
    public override string ToString() => string.Join(", ", _files.Select(file => $"{file.Key} ({file.Value.Length})"));
}
