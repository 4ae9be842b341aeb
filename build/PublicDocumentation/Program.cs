using System.Xml.Linq;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

// Removes the documentation of members that no user of an assembly can see.
if (args is not [var assemblyPath, var documentationPath])
{
    Console.Error.WriteLine("Usage: PublicDocumentation ASSEMBLY DOCUMENTATION.xml");
    return 2;
}

// The types of signatures come from the runtime's own assemblies. Others, if missing, still have their names.
var platform = ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator);
var own = Path.GetFullPath(assemblyPath);
var others = platform.Concat(Directory.GetFiles(Path.GetDirectoryName(own)!, "*.dll"))
    .Where(file => !Path.GetFileName(file).Equals(Path.GetFileName(own), StringComparison.OrdinalIgnoreCase))
    .DistinctBy(Path.GetFileName);
var reference = MetadataReference.CreateFromFile(own);
var compilation = CSharpCompilation.Create("documentation", references: [reference, .. others.Select(file => MetadataReference.CreateFromFile(file))]);
var assembly = (IAssemblySymbol)compilation.GetAssemblyOrModuleSymbol(reference)!;

var visible = new HashSet<string>(StringComparer.Ordinal);
Visit(assembly.GlobalNamespace);

var documentation = XDocument.Load(documentationPath, LoadOptions.PreserveWhitespace);
var members = documentation.Root!.Element("members")!.Elements("member").ToList();
foreach (var member in members.Where(member => !visible.Contains((string?)member.Attribute("name") ?? "")))
{
    // The line break and the indentation go with it.
    if (member.PreviousNode is XText { } space && string.IsNullOrWhiteSpace(space.Value))
        space.Remove();
    member.Remove();
}

var kept = documentation.Root.Element("members")!.Elements("member").Count();
documentation.Save(documentationPath, SaveOptions.DisableFormatting);
Console.WriteLine($"{Path.GetFileName(documentationPath)}: {kept} of {members.Count} members are public.");
return kept > 0 ? 0 : 1;

void Visit(INamespaceOrTypeSymbol container)
{
    foreach (var member in container.GetMembers())
    {
        if (member is INamespaceSymbol inner)
        {
            Visit(inner);
            continue;
        }

        if (member.DeclaredAccessibility is not (Accessibility.Public or Accessibility.Protected or Accessibility.ProtectedOrInternal))
            continue;
        if (member.GetDocumentationCommentId() is { } id)
            visible.Add(id);
        if (member is INamedTypeSymbol type)
            Visit(type);
    }
}
