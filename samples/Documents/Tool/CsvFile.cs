using System.Buffers;
using System.Text.Json;
using Sylvan.Data.Csv;

namespace Voron.Documents.Tool;

/// <summary>Files of comma-separated values: the first line has the names of the properties. Numbers become numbers, empty fields are left out.</summary>
internal static class CsvFile
{
    private static readonly SearchValues<char> Digits = SearchValues.Create("0123456789.");

    // A quote that is never closed makes the rest of the file one field, which does not fill the memory.
    private const int MaxRowCharacters = ImportSource.MaxDocumentBytes / sizeof(char);

    /// <param name="file">The file.</param>
    /// <param name="id">The column that has the ids; null for the column <c>id</c>.</param>
    public static ImportSource Of(string file, string? id) =>
        new($"'{file}'", ImportSource.LengthOf(file), (progress, _) => Read(file, id ?? "id", progress));

    private static IEnumerable<ImportedDocument> Read(string file, string id, Action<long> progress)
    {
        using var stream = File.OpenRead(file);
        using var text = new Utf8TextReader(stream);
        using var csv = Open(file, text);
        var idColumn = ColumnOf(csv, id);
        if (idColumn < 0)
        {
            throw new ImportException(
                $"'{file}' has no column '{id}': its first line names {string.Join(", ", NamesOf(csv))}. Name the column that has the ids with --id COLUMN.");
        }

        var number = 0L;
        while (ReadRow(file, csv, number + 1))
        {
            number++;
            if (number % 1000 == 0)
                progress(stream.Position);
            if (IsBlank(csv))
                continue;
            var fault = csv.RowFieldCount == csv.FieldCount
                ? null
                : $"It has {csv.RowFieldCount} field{(csv.RowFieldCount == 1 ? "" : "s")}, and the first line names {csv.FieldCount}.";
            yield return fault == null
                ? new ImportedDocument($"row {number}", csv.GetString(idColumn), ToJson(csv))
                : new ImportedDocument($"row {number}", null, default, fault);
        }
    }

    private static CsvDataReader Open(string file, Utf8TextReader text)
    {
        try
        {
            return CsvDataReader.Create(text, new CsvDataReaderOptions { BufferSize = 1 << 20, MaxBufferSize = MaxRowCharacters });
        }
        catch (CsvMissingHeadersException e)
        {
            throw new ImportException($"'{file}' is empty: its first line must name the columns.", e);
        }
        catch (Exception e) when (e is FormatException or InvalidDataException)
        {
            throw new ImportException($"The first line of '{file}' cannot be read. {ReasonOf(e)}", e);
        }
    }

    // Where a quote does not end as it should, it is not known which row comes next.
    private static bool ReadRow(string file, CsvDataReader csv, long number)
    {
        try
        {
            return csv.Read();
        }
        catch (Exception e) when (e is FormatException or InvalidDataException)
        {
            throw new ImportException($"Row {number} of '{file}' cannot be read, and the import ends there. {ReasonOf(e)}", e);
        }
    }

    private static string ReasonOf(Exception e) =>
        e is CsvRecordTooLargeException ? $"It has more than {MaxRowCharacters:N0} characters: look for a quote that is not closed." : e.Message;

    private static bool IsBlank(CsvDataReader csv) => csv.RowFieldCount <= 1 && csv.GetRawRecordSpan().IsWhiteSpace();

    private static byte[] ToJson(CsvDataReader csv)
    {
        using var bytes = new MemoryStream();
        using (var json = new Utf8JsonWriter(bytes, Json.Readable))
        {
            json.WriteStartObject();
            for (var i = 0; i < csv.FieldCount; i++)
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
