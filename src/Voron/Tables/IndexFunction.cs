namespace Voron.Tables;

/// <summary>Computes the keys of a row in an index: none for a row that the index leaves out, or one or several.</summary>
/// <remarks>
/// The function is the whole definition of the index, so it must depend on nothing but the row, and return the same keys for equal rows at any time.
/// The order of the keys does not matter, and a key that is added twice counts once. Changing the function requires a higher index version.
/// </remarks>
/// <typeparam name="TRow">The type of the rows.</typeparam>
/// <param name="row">The row.</param>
/// <param name="keys">Receives the keys.</param>
/// <example>
/// <code>
/// .Index("section", 1, static (in Package p, ref IndexKeys keys) => keys.Add(p.Section))
/// .Index("depends", 1, static (in Package p, ref IndexKeys keys) => { foreach (var name in p.Depends) keys.Add(name); })
/// .Index("large", 1, static (in Package p, ref IndexKeys keys) => { if (p.Size > 9999) keys.Add(p.Size); })
/// .UniqueIndex("source", 1, static (in Package p, ref IndexKeys keys) => keys.Begin().Add(p.Source).Add(p.Version))
/// </code>
/// </example>
public delegate void IndexFunction<TRow>(in TRow row, ref IndexKeys keys);
