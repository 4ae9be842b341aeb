namespace Voron.Tests.Keys;

internal delegate void KeyAdd<T>(ref KeyWriter key, T value);

internal delegate T KeyRead<T>(ref KeyReader key);

/// <summary>A type of field of a key: how it is written and read, and the order that it must have.</summary>
internal abstract class KeyField
{
    protected KeyField(string name) => Name = name;

    public string Name { get; }

    /// <summary>Draws a value, often an edge or the neighbour of one.</summary>
    public abstract object Draw(Random random);

    /// <summary>Draws one of few values, so that fields of two keys are often equal.</summary>
    public abstract object DrawOfFew(Random random);

    public abstract void Add(ref KeyWriter key, object value, bool descending);

    public abstract object Read(ref KeyReader key, bool descending);

    /// <summary>Compares as .NET does, or as documented where that differs.</summary>
    public abstract int Compare(object left, object right);

    /// <summary>Whether a value that was read is the one that was written, as far as the format keeps it.</summary>
    public abstract bool IsSame(object written, object read);

    public override string ToString() => Name;

    /// <summary>Returns the key of a single field.</summary>
    public byte[] Encode(object value, bool descending = false)
    {
        var key = new KeyWriter(new byte[4096]);
        Add(ref key, value, descending);
        return key.Written.ToArray();
    }
}

/// <inheritdoc/>
internal sealed class KeyField<T>(string name, T[] edges, Func<Random, T> draw, Comparison<T> compare) : KeyField(name)
    where T : notnull
{
    public required KeyAdd<T> Ascending { get; init; }

    public required KeyAdd<T> Descending { get; init; }

    public required KeyRead<T> ReadAscending { get; init; }

    public required KeyRead<T> ReadDescending { get; init; }

    public Func<T, T, bool> Same { get; init; } = static (written, read) => written.Equals(read);

    public override object Draw(Random random) => random.Next(4) == 0 ? edges[random.Next(edges.Length)] : draw(random);

    public override object DrawOfFew(Random random) => edges[random.Next(Math.Min(3, edges.Length))];

    public override void Add(ref KeyWriter key, object value, bool descending)
    {
        if (descending)
            Descending(ref key, (T)value);
        else
            Ascending(ref key, (T)value);
    }

    public override object Read(ref KeyReader key, bool descending) => descending ? ReadDescending(ref key) : ReadAscending(ref key);

    public override int Compare(object left, object right) => compare((T)left, (T)right);

    public override bool IsSame(object written, object read) => Same((T)written, (T)read);
}
