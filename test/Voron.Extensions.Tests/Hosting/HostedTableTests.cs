using System.Text.Json.Serialization;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Voron.Tables;

namespace Voron.Extensions.Tests.Hosting;

/// <summary>Tables are at their definitions before the first service starts, and the health check says so.</summary>
public sealed class HostedTableTests
{
    private static readonly TableDefinition<string, Note> Plain =
        TableDefinition.Create("notes", 1, RowCodec.Json(NoteContext.Default.Note), KeyCodec.Utf8, static (Note note) => note.Id);

    private static readonly TableDefinition<string, Note> Unique = TableDefinition
        .Create("notes", 2, RowCodec.Json(NoteContext.Default.Note), KeyCodec.Utf8, static (Note note) => note.Id)
        .UniqueIndex("author", 1, static (Note note) => note.Author);

    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_table_is_made_and_its_indexes_are_built_before_services_start()
    {
        using var directory = new TestDirectory();
        Insert(directory, "ada");
        var builder = HostKit.Builder(directory, ("Voron:Directory", "data"));
        builder.Services.AddHostedService<Reader>().AddVoron().AddVoronTable(Unique);
        using var host = builder.Build();
        var early = await HostKit.CheckHealthAsync(host.Services);
        early.Status.Should().Be(HealthStatus.Unhealthy, "nothing is open");

        // A service that asks for the environment before the host has started finds it open, and the table as it was.
        using (var reading = host.Services.GetRequiredService<StorageEnvironment>().BeginRead())
            reading.OpenTable(Unique).GetIndexState("author").Should().Be(IndexState.Absent);
        var opened = await HostKit.CheckHealthAsync(host.Services);
        opened.Status.Should().Be(HealthStatus.Degraded);
        opened.Description.Should().Contain("Table 'notes' has not been brought");
        await host.StartAsync(Stop);
        (await HostKit.CheckHealthAsync(host.Services)).Status.Should().Be(HealthStatus.Healthy);
    }

    [Fact]
    public async Task A_host_does_not_start_with_rows_that_the_definition_refuses_and_the_program_before_it_does()
    {
        using var directory = new TestDirectory();
        Insert(directory, "ada", "ada");
        var builder = HostKit.Builder(directory, ("Voron:Directory", "data"));
        builder.Services.AddVoron().AddVoronTable(Unique);
        using (var host = builder.Build())
        {
            var start = () => host.StartAsync(Stop);
            (await start.Should().ThrowAsync<InvalidOperationException>()).WithMessage("Table 'notes' in *cannot be brought to the definition*'ada'*")
                .WithInnerException<DuplicateKeyException>();
            var health = await HostKit.CheckHealthAsync(host.Services);
            health.Status.Should().Be(HealthStatus.Degraded);
            health.Description.Should().Contain("could not be brought");
        }

        builder = HostKit.Builder(directory, ("Voron:Directory", "data"));
        builder.Services.AddVoron().AddVoronTable(Plain);
        using (var host = builder.Build())
        {
            await host.StartAsync(Stop);
            host.Services.GetRequiredService<StorageEnvironment>().Write(writing => writing.OpenTable(Plain).Insert(new Note("c", "ada")));
        }
    }

    [Fact]
    public async Task Keyed_environments_have_their_own_tables_and_one_for_reading_keeps_its_own()
    {
        using var directory = new TestDirectory();
        Insert(directory, "ada");
        var builder = HostKit.Builder(
            directory, ("Voron:old:Directory", "data"), ("Voron:old:ReadOnly", "true"), ("Voron:new:InMemory", "true"));
        builder.Services.AddKeyedVoron("old").AddKeyedVoron("new").AddVoronTable(Unique, "old").AddVoronTable(Unique, "new");
        using var host = builder.Build();
        await host.StartAsync(Stop);
        foreach (var (name, state) in new[] { ("old", IndexState.Absent), ("new", IndexState.Ready) })
        {
            using var reading = host.Services.GetRequiredKeyedService<StorageEnvironment>(name).BeginRead();
            reading.OpenTable(Unique).GetIndexState("author").Should().Be(state);
            (await HostKit.CheckHealthAsync(host.Services, $"voron_{name}")).Status.Should().Be(HealthStatus.Healthy);
        }
    }

    [Theory]
    [InlineData(null, "AddVoron adds it")]
    [InlineData("orders", "AddKeyedVoron(\"orders\") adds it")]
    public async Task A_table_without_its_environment_stops_the_host(string? name, string remedy)
    {
        using var directory = new TestDirectory();
        var builder = HostKit.Builder(directory, ("Voron:other:InMemory", "true"));
        builder.Services.AddVoronTable(Unique, name);
        if (name != null)
            builder.Services.AddKeyedVoron("other");
        using var host = builder.Build();
        var start = () => host.StartAsync(Stop);
        (await start.Should().ThrowAsync<InvalidOperationException>()).WithMessage($"*{remedy}*");
    }

    [Fact]
    public void Missing_arguments_are_named()
    {
        FluentActions.Invoking(() => new ServiceCollection().AddVoronTable<string, Note>(null!)).Should().Throw<ArgumentNullException>()
            .WithParameterName("definition");
        FluentActions.Invoking(() => ((IServiceCollection)null!).AddVoronTable(Plain)).Should().Throw<ArgumentNullException>()
            .WithParameterName("services");
    }

    private static void Insert(TestDirectory directory, params string[] authors)
    {
        using var environment = StorageEnvironment.Open(Path.Combine(directory.Path, "data"));
        environment.Write(writing => writing.CreateTable(Plain).InsertMany([.. authors.Select((author, i) => new Note($"{i}", author))]));
    }

    private sealed class Reader(StorageEnvironment environment) : IHostedService
    {
        public Task StartAsync(CancellationToken cancellationToken)
        {
            using var reading = environment.BeginRead();
            reading.OpenTable(Unique).TryGetBy("author", "ada", out _).Should().BeTrue();
            return Task.CompletedTask;
        }

        public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
    }
}

internal sealed record Note(string Id, string Author);

[JsonSerializable(typeof(Note))]
internal sealed partial class NoteContext : JsonSerializerContext;
