using System.Buffers;
using System.Globalization;
using System.Text.Json;
using Sylvan.Data.Csv;

namespace Voron.Documents.Tool;

/// <summary>Files of comma-separated values: the first line has the names of the properties. Numbers become numbers, empty fields are left out.</summary>
internal static class CsvFile
{
    private static readonly SearchValues<char> Digits = SearchValues.Create("0123456789.");

    /// <param name="file">The file.</param>
    /// <param name="id">The column that has the ids; null for the column <c>id</c>, or the number of the row if there is none.</param>
    public static ImportSource Of(string file, string? id) => new($"'{file}'", new FileInfo(file).Length, progress => Read(file, id, progress));

    private static IEnumerable<ImportedDocument> Read(string file, string? id, Action<long> progress)
    {
        using var stream = File.OpenRead(file);
        using var text = new StreamReader(stream);
        using var csv = CsvDataReader.Create(text, new CsvDataReaderOptions { BufferSize = 1 << 20 });
        var idColumn = ColumnOf(csv, id ?? "id");
        if (idColumn < 0 && id != null)
            throw new ImportException($"'{file}' has no column '{id}': its first line names {string.Join(", ", NamesOf(csv))}.");
        while (csv.Read())
        {
            if (csv.RowFieldCount > csv.FieldCount)
                throw new ImportException($"Row {csv.RowNumber} of '{file}' has {csv.RowFieldCount} fields, and the first line names {csv.FieldCount}.");
            var key = idColumn < 0 ? csv.RowNumber.ToString(CultureInfo.InvariantCulture) : csv.GetString(idColumn);
            yield return new ImportedDocument($"row {csv.RowNumber}", key, ToJson(csv));
            if (csv.RowNumber % 1000 == 0)
                progress(stream.Position);
        }
    }

    private static byte[] ToJson(CsvDataReader csv)
    {
        using var bytes = new MemoryStream();
        using (var json = new Utf8JsonWriter(bytes, Json.Readable))
        {
            json.WriteStartObject();
            for (var i = 0; i < csv.RowFieldCount; i++)
            {
                var value = csv.GetString(i);
                if (value.Length == 0)
                    continue;
                json.WritePropertyName(csv.GetName(i));
                if (IsNumber(value))
                    json.WriteRawValue(value);
                else
                    json.WriteStringValue(value);
            }

            json.WriteEndObject();
        }

        return bytes.ToArray();
    }

    // As JSON writes numbers: 007 and +1 are texts.
    private static bool IsNumber(string value)
    {
        var digits = value.AsSpan(value[0] == '-' ? 1 : 0);
        return !digits.IsEmpty && char.IsAsciiDigit(digits[0]) && char.IsAsciiDigit(digits[^1]) && (digits.Length == 1 || digits[0] != '0' || digits[1] == '.')
            && !digits.ContainsAnyExcept(Digits) && digits.Count('.') <= 1;
    }

    private static int ColumnOf(CsvDataReader csv, string name) => Array.IndexOf(NamesOf(csv), name);

    private static string[] NamesOf(CsvDataReader csv) => [.. Enumerable.Range(0, csv.FieldCount).Select(csv.GetName)];
}
