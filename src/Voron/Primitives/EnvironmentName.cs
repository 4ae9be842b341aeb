namespace Voron.Primitives;

/// <summary>
/// The name of an open environment in metrics and activities: its own name or its path, followed by a number if the process has another open
/// environment of that name, such as <c>memory#2</c>. Numbers are reused, so that there are few names.
/// </summary>
/// <remarks>Held weakly: an environment that is never disposed does not keep its name for longer than it lives.</remarks>
internal sealed class EnvironmentName : IDisposable
{
    /// <summary>The key of the tag that contains the name.</summary>
    public const string TagKey = "db.namespace";

    private static readonly Lock Gate = new();
    private static readonly Dictionary<string, List<WeakReference<EnvironmentName>?>> Taken = new(StringComparer.Ordinal);

    private readonly string _name;
    private readonly int _index;

    private EnvironmentName(string name, int index)
    {
        _name = name;
        _index = index;
        Text = index == 0 ? name : $"{name}#{index + 1}";
        Tag = new KeyValuePair<string, object?>(TagKey, Text);
    }

    /// <summary>The name, which no other open environment of the process has.</summary>
    public string Text { get; }

    /// <summary>The tag with the name.</summary>
    public KeyValuePair<string, object?> Tag { get; }

    /// <summary>Takes the name, with the lowest free number.</summary>
    public static EnvironmentName Take(string name)
    {
        using (Uninterrupted.Hold(Gate))
        {
            if (!Taken.TryGetValue(name, out var users))
                Taken.Add(name, users = []);
            var index = users.FindIndex(static user => user?.TryGetTarget(out _) != true);
            if (index < 0)
            {
                index = users.Count;
                users.Add(null);
            }

            var taken = new EnvironmentName(name, index);
            users[index] = new WeakReference<EnvironmentName>(taken);
            return taken;
        }
    }

    /// <summary>Makes the name available to other environments. Later calls do nothing.</summary>
    public void Dispose()
    {
        using (Uninterrupted.Hold(Gate))
        {
            if (!Taken.TryGetValue(_name, out var users) || _index >= users.Count)
                return;
            if (users[_index]?.TryGetTarget(out var user) != true || user != this)
                return;
            users[_index] = null;
            if (users.TrueForAll(static other => other?.TryGetTarget(out _) != true))
                Taken.Remove(_name);
        }
    }
}
