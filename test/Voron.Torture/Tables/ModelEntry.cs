namespace Voron.Torture.Tables;

/// <summary>An entry of an index, in the order in which queries return them.</summary>
internal readonly record struct ModelEntry(string Key, ModelRow Row) : IComparable<ModelEntry>
{
    public int CompareTo(ModelEntry other) => Compare(Key, Row.Id, other.Key, other.Row.Id);

    public static int Compare(string key, long id, string otherKey, long otherId)
    {
        var order = string.CompareOrdinal(key, otherKey);
        return order != 0 ? order : id.CompareTo(otherId);
    }
}
