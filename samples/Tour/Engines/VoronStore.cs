using Tour.Data;
using Voron;

namespace Tour.Engines;

/// <summary>A Voron environment with default options.</summary>
internal sealed class VoronStore : IStore
{
    public VoronStore(string directory)
    {
        var options = new StorageOptions();
        foreach (var table in Tables.All)
            options.Trees.Add(table);
        Environment = StorageEnvironment.Open(directory, options);
    }

    public string Name => "Voron";

    public StorageEnvironment Environment { get; }

    public void Put(string table, Member member)
    {
        using var writing = Environment.BeginWrite();
        writing.OpenTree(table).Put(member.Key, member.Text);
        writing.Commit();
    }

    public void PutMany(string table, IEnumerable<Member> members)
    {
        using var writing = Environment.BeginWrite();
        var tree = writing.OpenTree(table);
        foreach (var member in members)
            tree.Put(member.Key, member.Text);
        writing.Commit();
    }

    public ValueTask PutAsync(string table, Member member) => Environment.WriteAsync(
        (table, member), static (writing, put) => writing.OpenTree(put.table).Put(put.member.Key, put.member.Text));

    public void Settle() => Environment.Flush();

    public ISnapshot OpenSnapshot(string table) => new VoronSnapshot(Environment, table);

    public void Dispose() => Environment.Dispose();
}
