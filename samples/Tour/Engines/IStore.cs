using Tour.Data;

namespace Tour.Engines;

/// <summary>An engine with one file or directory. Whatever writes returns, or completes, when it is on disk.</summary>
internal interface IStore : IDisposable
{
    string Name { get; }

    /// <summary>Commits one entry.</summary>
    void Put(string table, Member member);

    /// <summary>Commits entries in one transaction.</summary>
    void PutMany(string table, IEnumerable<Member> members);

    /// <summary>Puts one entry. Any number of callers do so at the same time.</summary>
    ValueTask PutAsync(string table, Member member);

    /// <summary>Brings what was committed into the data file, so that nothing is left to do in the background.</summary>
    void Settle();

    /// <summary>Opens a table as it is now. What is committed later is not in it.</summary>
    ISnapshot OpenSnapshot(string table);
}
