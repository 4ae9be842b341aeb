using System.Reflection;

namespace Voron.Tests.Lifetimes;

/// <summary>The public instance members of a type.</summary>
internal static class HandleMembers
{
    /// <summary>
    /// Returns the names of a type's own members, methods with the types of their parameters. The ones that refuse to compile are left out.
    /// </summary>
    public static IEnumerable<string> Of(Type type)
    {
        const BindingFlags own = BindingFlags.Public | BindingFlags.Instance | BindingFlags.DeclaredOnly;
        foreach (var property in type.GetProperties(own))
        {
            if (property.GetMethod is { IsPublic: true })
                yield return property.Name;
            if (property.SetMethod is { IsPublic: true })
                yield return $"{property.Name}=";
        }

        foreach (var method in type.GetMethods(own))
        {
            if (!method.IsSpecialName && !method.IsDefined(typeof(ObsoleteAttribute), inherit: false))
                yield return Describe(method);
        }
    }

    public static string Describe(MethodInfo method)
    {
        var generic = method.IsGenericMethod ? $"<{string.Join(", ", method.GetGenericArguments().Select(argument => argument.Name))}>" : "";
        return $"{method.Name}{generic}({string.Join(", ", method.GetParameters().Select(parameter => Name(parameter.ParameterType)))})";
    }

    private static string Name(Type type)
    {
        if (type.IsByRef)
            return Name(type.GetElementType()!);
        if (type.IsArray)
            return Name(type.GetElementType()!) + "[]";
        return type.IsGenericType
            ? $"{type.Name[..type.Name.IndexOf('`')]}<{string.Join(", ", type.GetGenericArguments().Select(Name))}>"
            : type.Name;
    }
}
