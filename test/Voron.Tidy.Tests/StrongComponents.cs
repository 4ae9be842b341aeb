namespace Voron.Tidy.Tests;

/// <summary>The strongly connected components of a directed graph, by Tarjan's algorithm.</summary>
internal sealed class StrongComponents(ILookup<string, string> targets)
{
    private readonly Dictionary<string, int> _order = [];
    private readonly Dictionary<string, int> _lowest = [];
    private readonly Stack<string> _open = [];
    private readonly HashSet<string> _isOpen = [];
    private readonly List<IReadOnlyList<string>> _components = [];

    /// <summary>All components, each in the order of its names.</summary>
    public IReadOnlyList<IReadOnlyList<string>> All()
    {
        foreach (var group in targets)
            Visit(group.Key);
        return _components;
    }

    private void Visit(string node)
    {
        if (!_order.TryAdd(node, _order.Count))
            return;
        _lowest[node] = _order[node];
        _open.Push(node);
        _isOpen.Add(node);
        foreach (var target in targets[node])
        {
            Visit(target);
            if (_isOpen.Contains(target))
                _lowest[node] = Math.Min(_lowest[node], _lowest[target]);
        }

        if (_lowest[node] == _order[node])
            Close(node);
    }

    private void Close(string root)
    {
        var component = new List<string>();
        string node;
        do
        {
            node = _open.Pop();
            _isOpen.Remove(node);
            component.Add(node);
        }
        while (node != root);
        component.Sort(StringComparer.Ordinal);
        _components.Add(component);
    }
}
