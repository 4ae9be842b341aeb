namespace Voron.Tidy.Tests;

/// <summary>Files, types and methods are small enough to be read at once, and a file is found by the name of its type.</summary>
public sealed class ShapeTests
{
    private const int MaxFileLines = 450;
    private const int MaxCompanionLines = 40;
    private const int MaxMemberLines = 70;
    private const int MaxParameters = 6;

    public static TheoryData<string> Projects =>
    [
        .. new[] { "build", "src", "test" }.SelectMany(folder => SourceTree.Sources(folder, "*.csproj").Select(file => $"{folder}/{file}"))
            .Where(file => !file.StartsWith("test/Packages/", StringComparison.Ordinal))
            .Select(file => file[..file.LastIndexOf('/')])

            // One project only publishes what another one has compiled.
            .Where(project => SourceTree.Sources(project).Count > 0),
    ];

    [Theory]
    [MemberData(nameof(Projects))]
    public void Files_are_short(string project) => AssertNone(project, "has long files", LongFiles);

    [Theory]
    [MemberData(nameof(Projects))]
    public void A_file_is_named_after_its_type(string project) =>
        AssertNone(project, "has files that do not declare the type they are named after", Misnamed);

    [Theory]
    [MemberData(nameof(Projects))]
    public void A_file_has_one_subject(string project) => AssertNone(project, "has types that need files of their own", Crowded);

    [Theory]
    [MemberData(nameof(Projects))]
    public void Methods_are_short(string project) => AssertNone(project, "has long methods", LongMembers);

    [Theory]
    [MemberData(nameof(Projects))]
    public void Methods_have_few_parameters(string project) => AssertNone(project, "has methods with many parameters", ManyParameters);

    [Fact]
    public void Each_rule_reports_its_violations()
    {
        LongFiles(Thing(new string('\n', MaxFileLines) + "class Thing;")).Should().Equal("Thing.cs has 451 lines");
        LongFiles(Thing(new string('\n', MaxFileLines - 1) + "class Thing;")).Should().BeEmpty();

        Misnamed(Thing("namespace A; class Other { class Thing; }")).Should().Equal("Thing.cs declares Other");
        Misnamed(Thing("namespace A; class Thing<T> { } class Other;")).Should().BeEmpty();
        Misnamed(new("Thing.Part.cs", "partial class Thing;")).Should().BeEmpty();
        Misnamed(new("AssemblyInfo.cs", "[assembly: System.CLSCompliant(false)]")).Should().BeEmpty();

        Crowded(Thing($"class Thing; class Other {{{Lines(40)}}}")).Should().Equal("Thing.cs has Other with 41 lines of code");
        Crowded(Thing($"class Thing {{{Lines(90)}}} class Other {{{Lines(37)}}}")).Should().BeEmpty();
        Crowded(Thing($"class Thing; enum Other {{{Lines(40, "A{0},")}}} record R(int A); delegate void D();")).Should().BeEmpty();

        var method = $"[Obsolete]\nvoid M()\n{{\nvoid Inner() {{\n{Lines(67, ";")} }} }}";
        LongMembers(Thing($"class Thing {{ {method} int P {{ get {{ {Lines(71, ";")} }} }} }}"))
            .Should().Equal("Thing.cs:2 M has 71 lines", "Thing.cs:72 P.get has 72 lines");
        LongMembers(Thing($"class Thing {{ Thing()\n{{{Lines(68, ";")}}} }}")).Should().BeEmpty();
        LongMembers(Thing(Lines(71, ";") + ";")).Should().Equal("Thing.cs:2 the program has 71 lines");

        const string seven = "(int a, int b, int c, int d, int e, int f, int g)";
        ManyParameters(Thing($"class Thing{seven};\nclass Other {{ Other{seven} {{ void I{seven} {{ }} }} }}")).Should().Equal(
            "Thing.cs:1 the constructor of Thing has 7 parameters",
            "Thing.cs:2 the constructor of Other has 7 parameters",
            "Thing.cs:2 I has 7 parameters");
        const string prescribed = $"override void M{seven}; extern void N{seven}; [LibraryImport(\"x\")] partial void O{seven};";
        ManyParameters(Thing($"record Thing{seven} {{ {prescribed} }}")).Should().BeEmpty();
    }

    private static SourceText Thing(string text) => new("Thing.cs", text);

    private static string Lines(int count, string line = "int A{0};") =>
        string.Concat(Enumerable.Range(0, count).Select(i => $"\n{line.Replace("{0}", $"{i}")}"));

    private static IEnumerable<string> LongFiles(SourceText file) =>
        file.Lines.Count > MaxFileLines ? [$"{file.Path} has {file.Lines.Count} lines"] : [];

    private static IEnumerable<string> Misnamed(SourceText file)
    {
        var shape = new FileShape(file);
        return shape.DeclaresItsSubject ? [] : [$"{file.Path} declares {string.Join(", ", shape.TopTypeNames)}"];
    }

    private static IEnumerable<string> Crowded(SourceText file)
    {
        var companions = new FileShape(file).Companions;
        return companions.Sum(type => type.Lines) < MaxCompanionLines
            ? [] : [$"{file.Path} has {string.Join(", ", companions.Select(type => $"{type.Name} with {type.Lines} lines of code"))}"];
    }

    private static IEnumerable<string> LongMembers(SourceText file) => new FileShape(file).MemberLengths
        .Where(member => member.Lines > MaxMemberLines)
        .Select(member => $"{file.Path}:{member.Line} {member.Name} has {member.Lines} lines");

    private static IEnumerable<string> ManyParameters(SourceText file) => new FileShape(file).ParameterCounts
        .Where(member => member.Parameters > MaxParameters)
        .Select(member => $"{file.Path}:{member.Line} {member.Name} has {member.Parameters} parameters");

    private static void AssertNone(string project, string what, Func<SourceText, IEnumerable<string>> rule)
    {
        var found = SourceText.Load(project).SelectMany(rule).ToList();
        Assert.True(found.Count == 0, $"{project} {what} in {found.Count} places:\n{string.Join('\n', found)}");
    }
}
