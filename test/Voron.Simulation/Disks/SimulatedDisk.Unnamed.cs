using Voron.IO;

namespace Voron.Simulation.Disks;

// Files without a name: the trace has their writes, and a creation when they get a name.
internal sealed partial class SimulatedDisk
{
    /// <summary>False unless a test is about files without a name, which the engine makes on another thread.</summary>
    public bool HasUnnamedFiles { get; set; }

    /// <summary>The number of temporary files that are open.</summary>
    public int OpenTemporaryFiles
    {
        get
        {
            lock (_gate)
            {
                return _inodes.Values.Count(
                    static inode => inode.Handles > 0 && inode.Name.StartsWith(TemporaryFile.NameOf(0), StringComparison.Ordinal));
            }
        }
    }

    public DiskFile OpenUnnamed()
    {
        lock (_gate)
        {
            Enter(DiskCallKind.Create, "");
            var inode = new SimulatedInode { File = _nextFile++, Name = "", Handles = 1 };
            _inodes.Add(inode.File, inode);
            return new SimulatedFile(this, inode, PathOf("unnamed"), DiskAccess.WriteThrough);
        }
    }

    public void Link(DiskFile file, string name)
    {
        DiskRules.CheckName(name);
        lock (_gate)
        {
            Enter(DiskCallKind.Link, name);
            if (_names.ContainsKey(name))
                throw new DiskException(DiskError.AlreadyExists, "name", PathOf(name), $"there is a file '{name}'");
            var inode = ((SimulatedFile)file).Inode;
            _names.Add(name, inode.File);
            inode.Name = _newestName = name;
            Append(new TraceEntry(TraceKind.Create) { File = inode.File, Name = name });
        }
    }
}
