using System.Diagnostics;
using System.Reflection;

namespace Voron.Tests.Diagnostics;

/// <summary>Evaluates what a debugger would evaluate.</summary>
internal static class DebugViews
{
    /// <summary>Returns the properties of the view that a debugger would show instead of the object.</summary>
    public static Dictionary<string, object?> Of(object shown)
    {
        var name = shown.GetType().GetCustomAttribute<DebuggerTypeProxyAttribute>()!.ProxyTypeName;
        var view = Activator.CreateInstance(Type.GetType(name, throwOnError: true)!, shown)!;
        return view.GetType().GetProperties().ToDictionary(property => property.Name, property => property.GetValue(view));
    }
}
