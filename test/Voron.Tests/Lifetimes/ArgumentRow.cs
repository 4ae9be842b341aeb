namespace Voron.Tests.Lifetimes;

/// <summary>A call with a wrong argument.</summary>
/// <param name="Member">The member, as <see cref="HandleMembers"/> names it.</param>
/// <param name="Parameter">The parameter whose argument is wrong, as the caller knows it.</param>
/// <param name="Thrown">The type of the exception.</param>
/// <param name="Call">The call.</param>
internal sealed record ArgumentRow(string Member, string Parameter, Type Thrown, Action<ArgumentPlace> Call)
{
    public override string ToString() => $"{Member}: {Parameter}";
}

/// <summary>The handles to be called with wrong arguments.</summary>
internal sealed record ArgumentPlace(StorageEnvironment Environment, ReadTransaction Reading, WriteTransaction Writing, Cursor Cursor)
{
    public Tree Tree => Reading.OpenTree(HandleSet.TreeName);

    public WriteTree WriteTree => Writing.OpenTree(HandleSet.TreeName);
}
