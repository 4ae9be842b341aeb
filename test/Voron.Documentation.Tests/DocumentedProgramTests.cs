using System.Diagnostics;

namespace Voron.Documentation.Tests;

/// <summary>The programs of the documents compile as they are shown, and print the output that is shown.</summary>
public sealed class DocumentedProgramTests
{
    public static TheoryData<string> Documents
    {
        get
        {
            // Decisions and results are records of their time. The tests of the analyzers compile the page on them.
            var pages = System.IO.Directory.GetFiles(SourceTree.File("docs"), "*.md").Select(path => $"docs/{Path.GetFileName(path)}")
                .Where(page => page != "docs/analyzers.md");
            var packages = SourceTree.Sources("src", "README.md").Select(path => $"src/{path}");
            return [.. pages.Order(StringComparer.Ordinal).Append("README.md").Concat(packages).Where(page => DocumentedProgram.In(page).Any())];
        }
    }

    [Theory]
    [MemberData(nameof(Documents))]
    public void Programs_compile_as_they_are_shown(string document)
    {
        foreach (var program in DocumentedProgram.In(document))
        {
            var assembly = NewAssembly();
            try
            {
                var found = ProgramCompiler.Compile(program.Code, assembly);
                if (program.Error is { } error)
                    found.Select(diagnostic => diagnostic.Id).Should().Contain(error, "{0} says so", program);
                else
                    found.Should().BeEmpty("{0} must compile", program);
            }
            finally
            {
                File.Delete(assembly);
            }
        }
    }

    [Theory]
    [MemberData(nameof(Documents))]
    public async Task Programs_print_what_is_shown(string document)
    {
        foreach (var program in DocumentedProgram.In(document).Where(program => program.Output is not null))
            (await RunAsync(program)).Should().Be(program.Output!.TrimEnd(), "{0} shows it", program);
    }

    [Fact]
    public void The_readme_has_a_program_with_its_output() =>
        DocumentedProgram.In("README.md").Should().Contain(program => program.Output != null);

    [Fact]
    public void A_program_that_does_not_compile_is_found()
    {
        var assembly = NewAssembly();
        try
        {
            ProgramCompiler.Compile("Console.WriteLine(missing);", assembly).Select(diagnostic => diagnostic.Id).Should().Equal("CS0103");
            ProgramCompiler.Compile("string? text = null; Console.WriteLine(text.Length);", assembly).Select(diagnostic => diagnostic.Id).Should().Equal("CS8602");
        }
        finally
        {
            File.Delete(assembly);
        }
    }

    // Beside the tests, where the assemblies are that it uses.
    private static string NewAssembly() => Path.Combine(AppContext.BaseDirectory, $"program-{Guid.NewGuid():N}.dll");

    private static async Task<string> RunAsync(DocumentedProgram program)
    {
        var assembly = NewAssembly();
        var directory = System.IO.Directory.CreateTempSubdirectory("voron-program-").FullName;
        try
        {
            ProgramCompiler.Compile(program.Code, assembly);
            var tests = Path.Combine(AppContext.BaseDirectory, typeof(DocumentedProgramTests).Assembly.GetName().Name!);
            var host = Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet" ? Environment.ProcessPath! : "dotnet";
            var start = new ProcessStartInfo(host)
            {
                WorkingDirectory = directory,
                RedirectStandardOutput = true,
                RedirectStandardError = true,
                ArgumentList = { "exec", "--runtimeconfig", $"{tests}.runtimeconfig.json", "--depsfile", $"{tests}.deps.json", assembly },
            };
            using var process = Process.Start(start)!;
            var output = process.StandardOutput.ReadToEndAsync();
            var errors = process.StandardError.ReadToEndAsync();
            if (!process.WaitForExit(TestWait.Limit))
                process.Kill(entireProcessTree: true);
            (await errors).Should().BeEmpty("{0} must run without an error", program);
            return (await output).ReplaceLineEndings("\n").TrimEnd();
        }
        finally
        {
            File.Delete(assembly);
            System.IO.Directory.Delete(directory, recursive: true);
        }
    }
}
