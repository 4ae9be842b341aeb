using System.Reflection;
using System.Text;
using Voron.Tables;

namespace Voron.Tests;

/// <summary>The public surface is written down, so that it cannot change unnoticed.</summary>
[Quick]
public sealed class PublicApiTests
{
    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    private static readonly NullabilityInfoContext Nullability = new();

    [Fact]
    public void The_public_surface_is_the_accepted_one() =>
        AcceptedText.Check("src/Voron/PublicApi.txt", Describe(typeof(StorageEnvironment).Assembly), "the public surface has changed.");

    [Fact]
    public void Everything_public_is_in_the_namespace_of_the_package() =>
        typeof(StorageEnvironment).Assembly.GetExportedTypes().Select(type => type.Namespace).Distinct()
            .Should().BeEquivalentTo("Voron", "Voron.Tables", "Voron.Feeds");

    [Fact]
    public void Every_exception_of_the_engine_derives_from_one_base_and_is_sealed_or_a_base()
    {
        var exceptions = typeof(StorageEnvironment).Assembly.GetExportedTypes().Where(type => type.IsAssignableTo(typeof(Exception))).ToList();
        Type[] bases = [typeof(VoronException), typeof(TableException), typeof(StorageFullException)];
        exceptions.Should().HaveCount(23).And.OnlyContain(type => bases.Contains(type) || (bases.Contains(type.BaseType) && type.IsSealed));
        typeof(TableException).Should().BeDerivedFrom<VoronException>().And.BeAbstract();
    }

    private static string Describe(Assembly assembly)
    {
        var text = new StringBuilder();
        foreach (var type in assembly.GetExportedTypes().OrderBy(Name, StringComparer.Ordinal))
        {
            text.Append(Kind(type)).Append(' ').Append(Name(type)).Append(Bases(type)).Append('\n');
            foreach (var line in Members(type).Distinct().Order(StringComparer.Ordinal))
                text.Append("    ").Append(line).Append('\n');
        }

        return text.ToString();
    }

    private static string Kind(Type type)
    {
        if (type.IsEnum)
            return "enum";
        if (type.IsValueType)
            return (IsMarked(type, "IsReadOnlyAttribute") ? "readonly " : "") + (type.IsByRefLike ? "ref struct" : "struct");
        if (type.IsInterface)
            return "interface";
        return (type.IsAbstract && type.IsSealed ? "static " : type.IsAbstract ? "abstract " : type.IsSealed ? "sealed " : "") + "class";
    }

    private static string Bases(Type type)
    {
        var bases = type.GetInterfaces().Where(found => found.IsPublic).Select(Name).Order(StringComparer.Ordinal).ToList();
        if (type.IsEnum)
            return "";
        if (type.BaseType is { } parent && parent != typeof(object) && parent != typeof(ValueType))
            bases.Insert(0, Name(parent));
        return bases.Count == 0 ? "" : " : " + string.Join(", ", bases);
    }

    private static IEnumerable<string> Members(Type type)
    {
        if (type.IsEnum)
        {
            foreach (var name in Enum.GetNames(type))
                yield return $"{name} = {Convert.ToInt64(Enum.Parse(type, name))}";
            yield break;
        }

        foreach (var field in type.GetFields(Declared).Where(field => field.IsPublic || field.IsFamily))
            yield return (field.IsLiteral ? "const " : field.IsStatic ? "static " : "") + $"{Name(field.FieldType)} {field.Name}";
        foreach (var constructor in type.GetConstructors(Declared).Where(IsVisible))
            yield return $"new({Parameters(constructor)})";
        foreach (var property in type.GetProperties(Declared).Where(property => property.GetAccessors(true).Any(IsVisible)))
            yield return Describe(property);
        foreach (var found in type.GetEvents(Declared).Where(found => IsVisible(found.AddMethod!)))
            yield return $"event {Name(found.EventHandlerType!)} {found.Name}";
        foreach (var method in type.GetMethods(Declared).Where(IsVisible))
        {
            if (!method.IsSpecialName || method.Name.StartsWith("op_", StringComparison.Ordinal))
                yield return Describe(method);
        }
    }

    private static string Describe(PropertyInfo property)
    {
        var get = property.GetMethod is { } getter && IsVisible(getter) ? " get;" : "";
        var set = "";
        if (property.SetMethod is { } setter && IsVisible(setter))
            set = setter.ReturnParameter.GetRequiredCustomModifiers().Any(found => found.Name == "IsExternalInit") ? " init;" : " set;";
        var required = IsMarked(property, "RequiredMemberAttribute") ? "required " : "";
        var isStatic = (property.GetMethod ?? property.SetMethod)!.IsStatic ? "static " : "";
        return $"{isStatic}{required}{Name(property.PropertyType)}{Mark(Nullability.Create(property).ReadState, property.PropertyType)} {property.Name} {{{get}{set} }}";
    }

    private static string Describe(MethodInfo method)
    {
        var modifier = method.IsStatic ? "static " : method.IsAbstract ? "abstract " : method.IsVirtual && !method.IsFinal ? "virtual " : "";
        var generic = method.IsGenericMethod ? $"<{string.Join(", ", method.GetGenericArguments().Select(Name))}>" : "";
        var nullable = Mark(Nullability.Create(method.ReturnParameter).ReadState, method.ReturnType);
        return $"{modifier}{Name(method.ReturnType)}{nullable} {method.Name}{generic}({Parameters(method)})";
    }

    private static string Parameters(MethodBase method) => string.Join(", ", method.GetParameters().Select(parameter =>
    {
        var by = parameter.IsOut ? "out " : parameter.IsIn ? "in " : parameter.ParameterType.IsByRef ? "ref " : "";
        var type = parameter.ParameterType.IsByRef ? parameter.ParameterType.GetElementType()! : parameter.ParameterType;
        var optional = parameter.HasDefaultValue ? $" = {parameter.DefaultValue ?? "default"}" : "";
        return $"{by}{Name(type)}{Mark(Nullability.Create(parameter).WriteState, type)} {parameter.Name}{optional}";
    }));

    private static string Mark(NullabilityState state, Type type) => state == NullabilityState.Nullable && !type.IsValueType ? "?" : "";

    private static bool IsVisible(MethodBase method) => method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly;

    private static bool IsMarked(MemberInfo member, string attribute) => member.CustomAttributes.Any(found => found.AttributeType.Name == attribute);

    private static string Name(Type type)
    {
        if (type.IsGenericParameter)
            return type.Name;
        if (Nullable.GetUnderlyingType(type) is { } underlying)
            return Name(underlying) + "?";
        if (type.IsArray)
            return Name(type.GetElementType()!) + "[]";
        if (type.IsByRef)
            return "ref " + Name(type.GetElementType()!);
        return type.IsGenericType && !type.IsNested
            ? $"{type.Name[..type.Name.IndexOf('`')]}<{string.Join(", ", type.GetGenericArguments().Select(Name))}>"
            : type.Name;
    }
}
