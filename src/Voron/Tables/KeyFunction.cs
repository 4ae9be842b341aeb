namespace Voron.Tables;

/// <summary>Writes a key as fields, which determine the order of the keys: see <see cref="IKeyCodec{TKey}.Write"/>.</summary>
/// <typeparam name="TKey">The type of the keys.</typeparam>
/// <param name="key">The key.</param>
/// <param name="writer">An empty writer.</param>
public delegate void KeyFunction<TKey>(TKey key, ref KeyWriter writer);
