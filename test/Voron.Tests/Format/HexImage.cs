using System.Reflection;
using System.Runtime.InteropServices;
using Voron.Format;

namespace Voron.Tests.Format;

/// <summary>Formats bytes of structures as text.</summary>
internal static class HexImage
{
    /// <summary>Returns a line "offset: hex" for each 16 bytes that are not all zero.</summary>
    public static string Of(ReadOnlySpan<byte> bytes)
    {
        var lines = new List<string>();
        for (var i = 0; i < bytes.Length; i += 16)
        {
            var line = bytes[i..Math.Min(i + 16, bytes.Length)];
            if (line.ContainsAnyExcept((byte)0))
                lines.Add($"{i:x4}: {Convert.ToHexStringLower(line)}");
        }

        return string.Join('\n', lines);
    }

    /// <summary>
    /// Returns the bytes of a structure whose fields are filled one after another with 11.., 22.. and so on, each byte of a field one
    /// higher than the one before: this shows the offset, width and byte order of each field, and the bytes that belong to none.
    /// </summary>
    public static byte[] Filled<T>()
        where T : unmanaged
    {
        var number = 0;
        var value = (T)Fill(typeof(T), ref number);
        return MemoryMarshal.AsBytes(new ReadOnlySpan<T>(ref value)).ToArray();
    }

    /// <summary>Returns the offset and length of each field, nested ones as "Outer.Inner".</summary>
    public static IReadOnlyList<(string Field, int Offset, int Length)> Fields(Type type)
    {
        var fields = new List<(string, int, int)>();
        foreach (var field in InstanceFields(type))
        {
            var offset = field.GetCustomAttribute<FieldOffsetAttribute>()!.Value;
            if (IsNested(field.FieldType))
                fields.AddRange(Fields(field.FieldType).Select(inner => ($"{field.Name}.{inner.Field}", offset + inner.Offset, inner.Length)));
            else
                fields.Add((field.Name, offset, SizeOf(field.FieldType)));
        }

        return fields.OrderBy(field => field.Item2).ToList();
    }

    private static object Fill(Type type, ref int number)
    {
        var box = Activator.CreateInstance(type)!;
        foreach (var field in InstanceFields(type).OrderBy(field => field.GetCustomAttribute<FieldOffsetAttribute>()!.Value))
            field.SetValue(box, IsNested(field.FieldType) ? Fill(field.FieldType, ref number) : Pattern(field.FieldType, ++number));
        return box;
    }

    private static object Pattern(Type type, int number)
    {
        var bytes = new byte[16];
        for (var i = 0; i < bytes.Length; i++)
            bytes[i] = (byte)(number * 0x11 + i);
        if (type.IsEnum)
            return Enum.ToObject(type, Pattern(Enum.GetUnderlyingType(type), number));
        return Type.GetTypeCode(type) switch
        {
            TypeCode.Byte => bytes[0],
            TypeCode.UInt16 => BitConverter.ToUInt16(bytes),
            TypeCode.Int32 => BitConverter.ToInt32(bytes),
            TypeCode.UInt32 => BitConverter.ToUInt32(bytes),
            TypeCode.Int64 => BitConverter.ToInt64(bytes),
            TypeCode.UInt64 => BitConverter.ToUInt64(bytes),
            _ => type == typeof(RandomId) ? MemoryMarshal.Read<RandomId>(bytes) : throw new NotSupportedException($"A field of type {type}."),
        };
    }

    private static FieldInfo[] InstanceFields(Type type) => type.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic);

    private static bool IsNested(Type type) => type.IsValueType && !type.IsPrimitive && !type.IsEnum && type != typeof(RandomId);

    private static int SizeOf(Type type) => type.IsEnum ? SizeOf(Enum.GetUnderlyingType(type)) : type == typeof(RandomId) ? 16 : Marshal.SizeOf(type);
}
