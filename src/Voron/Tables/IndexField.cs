using System.Runtime.CompilerServices;
using System.Text;
using Voron.Trees;

namespace Voron.Tables;

/// <summary>Writes values as key fields according to their type, and reads them for messages.</summary>
internal static class IndexField
{
    private const int StackBytes = 256;

    /// <summary>Returns the bytes of a value.</summary>
    /// <param name="value">The value.</param>
    /// <param name="isPrefix">True if the value is the beginning of a text.</param>
    /// <exception cref="ArgumentException">Values of this type cannot be keys, or the text contains an unpaired surrogate.</exception>
    /// <exception cref="ArgumentNullException">The value, or a field of it, is null.</exception>
    public static byte[] Encode<T>(T value, bool isPrefix)
    {
        var writer = new KeyWriter(stackalloc byte[StackBytes]);
        Write(ref writer, value, isPrefix);
        return writer.Written.ToArray();
    }

    /// <summary>Adds a value to a key; for a tuple, each of its fields.</summary>
    /// <inheritdoc cref="Encode"/>
    public static void Write<T>(ref KeyWriter writer, T value, bool isPrefix = false)
    {
        switch (value)
        {
            case null: throw new ArgumentNullException(nameof(value), "A key cannot be null: the index does not contain rows whose key is null.");
            case string text when isPrefix: writer.AddPrefix(text); break;
            case byte[] bytes when isPrefix: writer.AddPrefix(bytes); break;
            case ITuple tuple:
                for (var i = 0; i < tuple.Length; i++)
                    Write(ref writer, tuple[i], isPrefix && i == tuple.Length - 1);
                break;
            case not (string or byte[]) when isPrefix:
                throw new ArgumentException($"A {typeof(T).Name} has no beginning: only a text has one.", nameof(value));
            case string text: writer.Add(text); break;
            case byte[] bytes: writer.Add(bytes); break;
            case bool number: writer.Add(number); break;
            case sbyte number: writer.Add(number); break;
            case byte number: writer.Add(number); break;
            case short number: writer.Add(number); break;
            case ushort number: writer.Add(number); break;
            case int number: writer.Add(number); break;
            case uint number: writer.Add(number); break;
            case long number: writer.Add(number); break;
            case ulong number: writer.Add(number); break;
            case Int128 number: writer.Add(number); break;
            case UInt128 number: writer.Add(number); break;
            case Half number: writer.Add(number); break;
            case float number: writer.Add(number); break;
            case double number: writer.Add(number); break;
            case decimal number: writer.Add(number); break;
            case Guid id: writer.Add(id); break;
            case DateTime time: writer.Add(time); break;
            case DateTimeOffset time: writer.Add(time); break;
            case DateOnly date: writer.Add(date); break;
            case TimeOnly time: writer.Add(time); break;
            case TimeSpan time: writer.Add(time); break;
            default: throw new ArgumentException($"A {value.GetType()} cannot be a key: use the values of which it consists.", nameof(value));
        }
    }

    /// <summary>
    /// Returns whether an index with keys of one type can answer a query for values of another, whose fields must be the first ones of the keys.
    /// </summary>
    /// <param name="known">The type of the keys of the index; null if its function writes bytes.</param>
    /// <param name="asked">The type of the values.</param>
    public static bool Fits(Type? known, Type asked)
    {
        if (known == null)
            return true;
        var (fields, first) = (FieldsOf(known), FieldsOf(asked));
        return first.Count <= fields.Count && first.SequenceEqual(fields.Take(first.Count));
    }

    /// <summary>Returns the field type names of a type, for messages.</summary>
    public static string Describe(Type type) => string.Join(", ", FieldsOf(type).Select(field => field.Name));

    /// <summary>Returns a key as text: its fields, if their types are known.</summary>
    public static string Describe(Type? type, ReadOnlySpan<byte> key)
    {
        if (type == null)
            return KeyText.OfFields(key);
        var text = new StringBuilder();
        var reader = new KeyReader(key);
        try
        {
            foreach (var field in FieldsOf(type))
                text.Append(text.Length == 0 ? "" : ", ").Append(Read(ref reader, field));
        }
        catch (Exception e) when (e is FormatException or NotSupportedException)
        {
            return KeyText.OfFields(key);
        }

        return text.ToString();
    }

    private static string Read(ref KeyReader reader, Type field) => 0 switch
    {
        _ when field == typeof(string) => $"'{reader.ReadString()}'",
        _ when field == typeof(bool) => $"{reader.ReadBoolean()}",
        _ when field == typeof(sbyte) => $"{reader.ReadSByte()}",
        _ when field == typeof(byte) => $"{reader.ReadByte()}",
        _ when field == typeof(short) => $"{reader.ReadInt16()}",
        _ when field == typeof(ushort) => $"{reader.ReadUInt16()}",
        _ when field == typeof(int) => $"{reader.ReadInt32()}",
        _ when field == typeof(uint) => $"{reader.ReadUInt32()}",
        _ when field == typeof(long) => $"{reader.ReadInt64()}",
        _ when field == typeof(ulong) => $"{reader.ReadUInt64()}",
        _ when field == typeof(decimal) => FormattableString.Invariant($"{reader.ReadDecimal()}"),
        _ when field == typeof(double) => FormattableString.Invariant($"{reader.ReadDouble()}"),
        _ when field == typeof(Guid) => $"{reader.ReadGuid()}",
        _ when field == typeof(DateTime) => $"{reader.ReadDateTime():O}",
        _ when field == typeof(DateTimeOffset) => $"{reader.ReadDateTimeOffset():O}",
        _ when field == typeof(DateOnly) => $"{reader.ReadDateOnly():O}",
        _ => throw new NotSupportedException(),
    };

    private static List<Type> FieldsOf(Type type) => type.IsAssignableTo(typeof(ITuple)) && type.IsGenericType
        ? [.. type.GetGenericArguments().SelectMany(FieldsOf)]
        : [Nullable.GetUnderlyingType(type) ?? type];
}
