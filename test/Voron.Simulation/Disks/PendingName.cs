namespace Voron.Simulation.Disks;

/// <summary>A change of names that is not durable yet.</summary>
internal sealed record PendingName(int Sequence, TraceKind Kind, string Name, string Target, int File)
{
    public void ApplyTo(Dictionary<string, int> directory)
    {
        switch (Kind)
        {
            case TraceKind.Create:
                directory[Name] = File;
                break;
            case TraceKind.Rename:
                // A file has one name: an older name whose own renaming was lost is removed too.
                foreach (var (name, _) in directory.Where(pair => pair.Value == File).ToList())
                    directory.Remove(name);
                directory[Target] = File;
                break;
            case TraceKind.Delete:
                if (directory.TryGetValue(Name, out var deleted) && deleted == File)
                    directory.Remove(Name);
                break;
        }
    }
}
