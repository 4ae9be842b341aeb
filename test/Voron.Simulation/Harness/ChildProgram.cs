using System.Diagnostics;
using System.Reflection;

namespace Voron.Simulation.Harness;

/// <summary>Starts programs that are located next to this one.</summary>
public static class ChildProgram
{
    /// <summary>
    /// Returns how to start the program of an assembly, with its standard streams redirected. A program that was published with its runtime is
    /// started directly, because there may be no installed runtime.
    /// </summary>
    public static ProcessStartInfo Of(Assembly assembly)
    {
        ArgumentNullException.ThrowIfNull(assembly);
        var own = OwnRuntime(assembly.Location);
        var self = Environment.ProcessPath;

        // A program has an extension on Windows alone; elsewhere, ".Tests" is a part of its name.
        var name = OperatingSystem.IsWindows() ? Path.GetFileNameWithoutExtension(self) : Path.GetFileName(self);
        var isHost = name?.Equals("dotnet", StringComparison.OrdinalIgnoreCase) == true;
        if (name == Path.GetFileNameWithoutExtension(assembly.Location))
            own = self;
        var start = new ProcessStartInfo(own ?? (isHost ? self! : "dotnet"))
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        if (own is null)
        {
            start.ArgumentList.Add("exec");
            start.ArgumentList.Add(assembly.Location);
        }
        return start;
    }

    private static string? OwnRuntime(string assembly)
    {
        var program = Path.ChangeExtension(assembly, OperatingSystem.IsWindows() ? ".exe" : null);
        var library = OperatingSystem.IsWindows() ? "coreclr.dll" : OperatingSystem.IsMacOS() ? "libcoreclr.dylib" : "libcoreclr.so";
        return File.Exists(Path.Combine(AppContext.BaseDirectory, library)) && File.Exists(program) ? program : null;
    }
}
