using System.Text.Json;

namespace Voron;

/// <content>The report as JSON.</content>
public sealed partial record SalvageReport
{
    private const int JsonVersion = 1;

    /// <summary>Writes the report as one JSON object. Keys are in base64, since they need not be text.</summary>
    /// <param name="target">The stream, which stays open. Its exceptions pass through.</param>
    public void WriteJson(Stream target)
    {
        ArgumentNullException.ThrowIfNull(target);
        using var json = new Utf8JsonWriter(target, new JsonWriterOptions { Indented = true });
        json.WriteStartObject();
        json.WriteNumber("version", JsonVersion);
        json.WriteString("source", Source);
        json.WriteString("target", Target);
        json.WriteNumber("transactionId", TransactionId);
        if (Time is { } time)
            json.WriteString("time", time);
        else
            json.WriteNull("time");
        json.WriteString("origin", Origin);
        json.WriteBoolean("isProven", IsProven);
        json.WriteBoolean("isJournalWhole", IsJournalWhole);
        json.WriteNumber("entries", Entries);
        json.WriteBoolean("hasLosses", HasLosses);
        WriteNumber(json, "expectedTrees", ExpectedTrees);
        json.WriteNumber("seconds", Duration.TotalSeconds);
        json.WriteNumber("damageCount", DamageCount);
        WriteAll(json, "damage", Damage, Write);
        WriteAll(json, "lostNames", LostNames, Write);
        WriteAll(json, "trees", Trees, Write);
        WriteAll(json, "tables", Tables, Write);
        json.WriteEndObject();
    }

    private static void Write(Utf8JsonWriter json, SalvageDamage damage)
    {
        json.WriteString("file", damage.File);
        WriteNumber(json, "page", damage.Page);
        WriteNumber(json, "offset", damage.Offset);
        json.WriteString("expected", damage.Expected);
        json.WriteString("actual", damage.Actual);
        json.WriteString("message", damage.Message);
    }

    private static void Write(Utf8JsonWriter json, SalvagedTree tree)
    {
        json.WriteString("name", tree.Name);
        WriteNumber(json, "treeId", tree.TreeId);
        WriteNumber(json, "expected", tree.Expected);
        json.WriteNumber("found", tree.Found);
        json.WriteNumber("proven", tree.Proven);
        json.WriteNumber("current", tree.Current);
        json.WriteNumber("stale", tree.Stale);
        json.WriteNumber("superseded", tree.Superseded);
        json.WriteBoolean("hasLosses", tree.HasLosses);
        WriteAll(json, "lostRanges", tree.LostRanges, Write);
        WriteAll(json, "lostValues", tree.LostValues, Write);
    }

    private static void Write(Utf8JsonWriter json, SalvagedTable table)
    {
        json.WriteString("name", table.Name);
        json.WriteNumber("rows", table.Rows);
        json.WriteNumber("keysWithoutRow", table.KeysWithoutRow);
        json.WriteNumber("rowsWithoutKey", table.RowsWithoutKey);
        json.WriteStartArray("indexesToBuild");
        foreach (var index in table.IndexesToBuild)
            json.WriteStringValue(index);
        json.WriteEndArray();
    }

    private static void Write(Utf8JsonWriter json, LostRange range)
    {
        WriteKey(json, "low", range.Low);
        WriteKey(json, "high", range.High);
        json.WriteNumber("page", range.Page);
        json.WriteNumber("found", range.Found);
        json.WriteString("reason", range.Reason);
    }

    private static void Write(Utf8JsonWriter json, LostValue value)
    {
        WriteKey(json, "key", value.Key);
        json.WriteNumber("length", value.Length);
        json.WriteString("reason", value.Reason);
    }

    private static void WriteAll<T>(Utf8JsonWriter json, string name, IReadOnlyList<T> all, Action<Utf8JsonWriter, T> write)
    {
        json.WriteStartArray(name);
        foreach (var one in all)
        {
            json.WriteStartObject();
            write(json, one);
            json.WriteEndObject();
        }

        json.WriteEndArray();
    }

    private static void WriteNumber(Utf8JsonWriter json, string name, long? number)
    {
        if (number is { } known)
            json.WriteNumber(name, known);
        else
            json.WriteNull(name);
    }

    private static void WriteKey(Utf8JsonWriter json, string name, byte[]? key)
    {
        if (key == null)
            json.WriteNull(name);
        else
            json.WriteBase64String(name, key);
    }
}
