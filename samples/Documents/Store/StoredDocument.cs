using Voron.Tables;

namespace Voron.Documents;

/// <summary>A document that was stored.</summary>
/// <param name="Id">Its id.</param>
/// <param name="Version">Its version.</param>
/// <param name="IsNew">True if there was none of that id.</param>
public readonly record struct StoredDocument(string Id, RowVersion Version, bool IsNew);
